/**
 * Timing side channels: whether response times distinguish a nearly valid key from an invalid one, or a missing project
 * from another organization's. Two kinds of request alternate over one connection; the difference of their medians is
 * compared with that of two identical kinds, which is the noise.
 */
import { randomInt } from 'node:crypto';
import { Agent, request } from 'node:http';
import { generateKey } from '../src/domain/keys/api-key.js';
import type { Figure, Report } from './support/report.js';
import { Database, projectId } from './support/service.js';
import { median } from './support/statistics.js';
import type { Workspace } from './support/workspace.js';

export interface TimingOptions {
  readonly rounds: number;
  /** Requests of each kind per round. */
  readonly requests: number;
  readonly note: (line: string) => void;
}

interface Asked {
  readonly path: string;
  readonly key: string;
  readonly status: number;
}

interface Pair {
  readonly what: string;
  readonly one: Asked;
  readonly other: Asked;
}

export async function benchTiming(
  workspace: Workspace,
  { rounds, requests, note }: TimingOptions,
): Promise<Report> {
  const database = await Database.create(workspace, 'timing');
  await database.command('organization', 'create', 'Rival', '--id', 'rival');
  await database.command('project', 'create', 'Theirs', '--id', 'their', '--organization', 'rival');
  const admin = await database.createAdminKey();
  const revoked = await database.createAdminKey();
  const keys = JSON.parse(await database.command('key', 'list', '--json')) as { id: string; end: string }[];
  const revokedId = keys.find(({ end }) => revoked.endsWith(end))?.id ?? '';
  await database.command('key', 'revoke', revokedId);
  const server = await database.serve('--failures-per-minute', '0');

  const ofProject = (id: string) => `/v1/analytics/${id}/assistant/caller-stats`;
  const unknown = { path: ofProject(projectId), key: generateKey('cs', 'admin', randomInt), status: 401 };
  // As long as the other, so that only the named property differs.
  const missing = { path: ofProject('there'), key: admin, status: 404 };
  const pairs: Pair[] = [
    {
      what: 'a key like no other, one like a valid one',
      one: unknown,
      other: { ...unknown, key: nearly(admin) },
    },
    {
      what: 'no project, another organization’s',
      one: missing,
      other: { ...missing, path: ofProject('their') },
    },
  ];
  const controls: Pair[] = [
    { what: 'an unknown key, the same', one: unknown, other: unknown },
    { what: 'no project, the same', one: missing, other: missing },
  ];
  // For comparison: a difference that the status reveals anyway.
  const open: Pair[] = [
    { what: 'an unknown key, a revoked one', one: unknown, other: { ...unknown, key: revoked } },
  ];
  const differences = new Map<Pair, number[]>([...pairs, ...controls, ...open].map((pair) => [pair, []]));
  const agent = new Agent({ keepAlive: true, maxSockets: 1 });
  try {
    // Round 0 warms up and is not counted.
    for (let round = 0; round <= rounds; round++) {
      note(`timing: ${round === 0 ? 'warming up' : `round ${round} of ${rounds}`}`);
      for (const [pair, values] of differences) {
        const difference = await measureDifference(pair, { url: server.url, agent, requests });
        if (round > 0) values.push(difference);
      }
    }
  } finally {
    agent.destroy();
  }
  const noise = Math.max(...controls.flatMap((pair) => (differences.get(pair) ?? []).map(Math.abs)));
  const toFigure = (pair: Pair, aim: Partial<Figure>): Figure => ({
    what: pair.what,
    unit: 'µs',
    values: differences.get(pair) ?? [],
    ...aim,
  });
  return {
    name: 'timing',
    method:
      `The difference of the medians of two kinds of request, ${requests} of each per round, alternating over one connection. ` +
      'The largest difference between two equal kinds is the noise, and the target for the others.',
    ratios: pairs.map((pair) => toFigure(pair, { within: noise })),
    absolutes: [...controls, ...open].map((pair) => toFigure(pair, {})),
  };
}

const alphabet = '0123456789ABCDEFGHIJKLMNOPQRSTUVWXYZabcdefghijklmnopqrstuvwxyz';

/** A key that differs in one character and the corresponding checksum. */
function nearly(key: string): string {
  const digits = [...key.slice(-49, -6)].map((character) => alphabet.indexOf(character));
  digits[20] = ((digits[20] ?? 0) + 1) % alphabet.length;
  let at = 0;
  return generateKey('cs', 'admin', () => digits[at++] ?? 0);
}

/** Microseconds by which the median of `one` exceeds that of `other`. */
async function measureDifference(
  { one, other }: Pair,
  { url, agent, requests }: { readonly url: string; readonly agent: Agent; readonly requests: number },
): Promise<number> {
  const times: [number[], number[]] = [[], []];
  for (let at = 0; at < requests; at++) {
    // Alternate which one comes first.
    const order = at % 2 === 0 ? ([0, 1] as const) : ([1, 0] as const);
    for (const which of order) times[which].push(await measureTime(which === 0 ? one : other, url, agent));
  }
  return median(times[0]) - median(times[1]);
}

/** Microseconds until the whole answer has arrived. */
function measureTime({ path, key, status }: Asked, url: string, agent: Agent): Promise<number> {
  return new Promise((resolve, reject) => {
    const startedAt = performance.now();
    const asked = request(url + path, { agent, headers: { authorization: `Bearer ${key}` } }, (answer) => {
      answer.resume();
      answer.once('end', () => {
        const time = (performance.now() - startedAt) * 1000;
        if (answer.statusCode === status) resolve(time);
        else reject(new Error(`${path}: ${answer.statusCode} instead of ${status}`));
      });
    });
    asked.once('error', reject);
    asked.end();
  });
}
