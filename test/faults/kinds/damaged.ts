/** Checks a server on a damaged file: it may fail, but if it returns wrong counts, `verify` must find the damage. */
import { once } from 'node:events';
import { readdirSync } from 'node:fs';
import { rm } from 'node:fs/promises';
import { basename } from 'node:path';
import type { Counts } from '../../../src/domain/counting/counts.js';
import { kill, programFile, type Running, urlIn } from '../../support/cli/process.js';
import { countsIn, sum } from '../blocks.js';
import type { Round } from '../fault.js';
import { type Question, questionOf } from '../plan.js';
import { count } from '../requests.js';
import type { World } from '../world.js';

const questions = 20;

const endsWithinMs = 10_000;

/** Serves the file, asks for counts, verifies the file, and removes it. */
export async function judge(round: Round, file: string, what: string): Promise<void> {
  const { world, tally } = round;
  const database = `sqlite:${file}`;
  const env = { DATABASE_URL: database };
  const args = [programFile, 'serve', '--port', '0', '--log-level', 'fatal'];
  const server = world.spawn(process.execPath, args, { env });
  // A server that cannot read its file waits after it listens, so it is not required to become ready.
  const url = await server.printed(/^caller-stats listens on .+\n/m).then(urlIn, () => undefined);
  const found =
    url === undefined
      ? [await startRefused(world, server, what)]
      : await whileServed(round, { server, url, database, what });
  tally.note(`${what}: ${found.length === 0 ? 'harmless' : `found ${found.join(', ')}`}`);
  for (const name of readdirSync(world.folder).filter((one) => one.startsWith(basename(file))))
    await rm(world.path(name));
}

interface Served {
  readonly server: Running;
  readonly url: string;
  readonly database: string;
  readonly what: string;
}

/** Returns when the damage was found. */
async function whileServed(round: Round, { server, url, database, what }: Served): Promise<string[]> {
  const { world } = round;
  const { wrong, refused, lost } = await answersOf(round, url);
  // It may end by itself after it listens, with the same status as if it could not start.
  if (lost > 0) await Promise.race([server.ended, once(AbortSignal.timeout(endsWithinMs), 'abort')]);
  kill(server.pid, 'SIGTERM');
  const served = await server.ended;
  if (served.status === 1 && wrong.length === 0) return ['at start'];
  if (lost > 0) world.problems.push(`${what}: ${lost} answers were lost`);
  const verified = await world.run(['verify', '--json', '--database', database]);
  for (const [name, { status, signal }] of Object.entries({ served, verified }))
    if (status === null) world.problems.push(`${what}: ${name} until ${signal}`);
  if (wrong.length > 0 && verified.status === 0)
    world.problems.push(`${what}: wrong numbers, and verify finds nothing: ${wrong[0]}`);
  return [
    ...(wrong.length > 0 ? ['after wrong numbers'] : []),
    ...(refused > 0 ? ['when it was read'] : []),
    ...(verified.status === 0 ? [] : ['by verify']),
  ];
}

/** A server that does not start must print an error, not crash. */
async function startRefused(world: World, server: Running, what: string): Promise<string> {
  const { status, stderr } = await server.ended;
  if (status !== 1)
    world.problems.push(`${what}: the server did not start, with status ${status}: ${stderr}`);
  return 'at start';
}

interface Answers {
  readonly wrong: readonly string[];
  readonly refused: number;
  readonly lost: number;
}

async function answersOf({ world, draw }: Round, url: string): Promise<Answers> {
  const wrong: string[] = [];
  let [refused, lost] = [0, 0];
  for (let number = 0; number < questions; number++) {
    const question = questionOf(draw, number, world.checker.certain('first'));
    const { status, body } = await count(url, world.keys.steady(number).value, question);
    if (body === undefined) refused++;
    if (status === 'lost') lost++;
    if (status === 'hangs') world.problems.push('a damaged file: the server hangs');
    const expected = expectedOf(world, question);
    if (body !== undefined && !same(body, expected))
      wrong.push(`${JSON.stringify(body)} for ${JSON.stringify(expected)} (${JSON.stringify(question)})`);
  }
  return { wrong, refused, lost };
}

function expectedOf({ checker }: World, { project, range }: Question): Counts {
  return sum(checker.certain(project).map((block) => countsIn(project, block, range)));
}

function same(a: Counts, b: Counts): boolean {
  return a.web === b.web && a.api === b.api && a.other === b.other && a.total === b.total;
}
