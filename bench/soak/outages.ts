/**
 * `npx tsx bench/soak/outages.ts --minutes N --seed S` lets real senders lose their server (SIGKILL), their network and their
 * process at random: the recorders and OpenTelemetry's exporters of three languages, and log shippers, one of them a Collector.
 * At the end every query that they were asked is counted once, or named as lost by its sender. Those without a disk are stopped
 * with SIGTERM, the others killed. Needs `npm run build`, Go, and Python with the packages that `npm run test:sdks` installs.
 */
import { copyFileSync, readFileSync } from 'node:fs';
import { setTimeout as delay } from 'node:timers/promises';
import { fileURLToPath } from 'node:url';
import { parseArgs } from 'node:util';
import { Draw } from '../../test/faults/draw.js';
import { kill, type Running, startProcess } from '../../test/support/cli/process.js';
import { freePort } from '../../test/support/free-port.js';
import { Database, projectId } from '../support/service.js';
import { type Server, type Workspace, withWorkspace } from '../support/workspace.js';
import { FAULTS, Network } from './network.js';

const senders = fileURLToPath(new URL('senders/', import.meta.url));
const root = fileURLToPath(new URL('../../', import.meta.url));
const say = (line: string) => process.stderr.write(`${new Date().toISOString()} ${line}\n`);

interface Kind {
  readonly name: string;
  readonly command: readonly [string, ...string[]];
  readonly env?: Readonly<Record<string, string>>;
  /** What it has is on a disk, so it may be killed. */
  readonly isKept: boolean;
  /** Others send what it writes. */
  readonly onlyWrites?: true;
}

function kindsIn(workspace: Workspace): Kind[] {
  const spool = { SPOOL: workspace.path('spool') };
  const python = { PYTHONPATH: `${root}clients/python/src` };
  const recorders = [
    { name: 'javascript', command: [process.execPath, 'recorder.mjs'] as const, env: {} },
    { name: 'python', command: ['python3', 'recorder.py'] as const, env: python },
    { name: 'go', command: [workspace.path('recorder')] as const, env: {} },
  ];
  const exporter = { command: [process.execPath, 'exporter.mjs'] as const, isKept: false };
  const collected = { LOG: workspace.path('collected.ndjson'), STORAGE: workspace.folder };
  return [
    ...recorders.map((one) => ({ ...one, isKept: false })),
    // All share one folder.
    ...recorders.map((one) => ({
      ...one,
      name: `${one.name}-spool`,
      env: { ...one.env, ...spool },
      isKept: true,
    })),
    { ...exporter, name: 'otlp-json', env: { PROTOCOL: 'json' } },
    { ...exporter, name: 'otlp-protobuf' },
    {
      ...exporter,
      name: 'otlp-python',
      command: [`${root}test/sdks/python/.venv/bin/python`, 'exporter.py'],
    },
    { ...exporter, name: 'otlp-go', command: [workspace.path('exporter')] },
    {
      name: 'shipper',
      command: [process.execPath, 'shipper.mjs'],
      env: { LOG: workspace.path('log.ndjson') },
      isKept: true,
    },
    { name: 'log', command: [process.execPath, 'log.mjs'], env: collected, isKept: true, onlyWrites: true },
    {
      name: 'collector',
      // By default it notes how far it has read before it keeps the lines: killed between the two, it loses them.
      command: [
        workspace.path('collector'),
        '--config=file:collector.yaml',
        '--feature-gates=stanza.synchronousLogEmitter',
      ],
      env: collected,
      isKept: true,
    },
  ];
}

/** A sender, whose processes follow one another. */
class Sender {
  readonly kind: Kind;
  starts = 0;
  /** Whether something ends it now. */
  isEnding = false;
  #running: Running | undefined;
  readonly #env: Readonly<Record<string, string>>;

  constructor(kind: Kind, env: Readonly<Record<string, string>>) {
    this.kind = kind;
    this.#env = env;
  }

  start(): void {
    const { name, command, env } = this.kind;
    const [program, ...args] = command;
    const more = { ...this.#env, NAME: `${name}-${this.starts++}`, HOME: process.env['HOME'] ?? '', ...env };
    const running = startProcess(program, args, { cwd: senders, env: more, hangMs: 0 });
    this.#running = running;
    void running.ended.then(({ status, stderr }) => {
      // One that is stopped before it listens to SIGTERM says nothing.
      if (status !== 0 && stderr !== '') say(`${name} ended with ${status}: ${stderr.slice(-1000)}`);
    });
  }

  async stop(signal: 'SIGTERM' | 'SIGKILL'): Promise<void> {
    if (this.#running === undefined) return;
    kill(this.#running.pid, signal);
    await this.#running.ended;
  }
}

interface World {
  readonly database: Database;
  readonly network: Network;
  readonly port: number;
  readonly senders: readonly Sender[];
  readonly draw: Draw;
  readonly endMs: number;
  /** How often each thing was lost. */
  readonly lost: Map<string, number>;
  server: Server;
}

const serve = (database: Database, port: number): Promise<Server> => database.serve('--port', String(port));

/** Breaks something again and again: it is well for some seconds, and broken for some more, sometimes for minutes. */
async function breakOften(
  world: World,
  name: string,
  once: (draw: Draw, outage: () => Promise<void>) => Promise<string>,
): Promise<void> {
  const draw = world.draw.of(name);
  const wait = (ms: number) => delay(Math.min(ms, Math.max(0, world.endMs - Date.now())));
  const outage = () => wait(draw.below(draw.oneIn(10) ? 150_000 : 15_000));
  for (;;) {
    await wait(3000 + draw.below(20_000));
    if (Date.now() >= world.endMs) return;
    const what = await once(draw, outage);
    world.lost.set(what, (world.lost.get(what) ?? 0) + 1);
  }
}

async function killServer(world: World, outage: () => Promise<void>): Promise<string> {
  kill(world.server.pid, 'SIGKILL');
  await outage();
  // A busy machine may take longer than a start may.
  for (let tries = 1; ; tries++) {
    try {
      world.server = await serve(world.database, world.port);
      return 'server killed';
    } catch (error) {
      if (tries === 10) throw error;
    }
  }
}

async function breakNetwork({ network }: World, draw: Draw, outage: () => Promise<void>): Promise<string> {
  const fault = draw.pick(FAULTS);
  network.change(fault);
  await outage();
  network.change('pass');
  return `network: ${fault}`;
}

async function endSender(world: World, draw: Draw, outage: () => Promise<void>): Promise<string> {
  const sender = draw.pick(world.senders.filter(({ isEnding }) => !isEnding));
  sender.isEnding = true;
  const signal = sender.kind.isKept && !draw.oneIn(3) ? 'SIGKILL' : 'SIGTERM';
  await sender.stop(signal);
  if (draw.oneIn(3)) await outage();
  sender.start();
  sender.isEnding = false;
  return `sender: ${signal}`;
}

/** What the senders wrote down, and what the server has. */
function compare(ledger: string, counted: ReadonlySet<string>) {
  const ids = { asked: new Set<string>(), kept: new Set<string>(), lost: new Map<string, string>() };
  for (const line of readFileSync(ledger, 'utf8').trim().split('\n')) {
    const [, word = '', id = '', why = ''] = /^(\w+) (\S+) ?(.*)$/.exec(line) ?? [];
    if (word === 'lost') ids.lost.set(id, why);
    else if (word === 'asked' || word === 'kept') ids[word].add(id);
    else throw new Error(`the ledger has the line ${line}`);
  }
  const silent = [...ids.kept].filter((id) => !counted.has(id) && !ids.lost.has(id));
  const strange = [...counted].filter((id) => !ids.asked.has(id));
  return { ...ids, silent, strange };
}

/** The rows of a table by sender. */
function tableOf(
  kinds: readonly Sender[],
  { asked, lost, silent }: ReturnType<typeof compare>,
  counted: ReadonlySet<string>,
) {
  return kinds.map(({ kind: { name }, starts }) => {
    const of = (ids: Iterable<string>) =>
      [...ids].filter((id) => id.startsWith(`${name}-`) && /^\d+-\d+$/.test(id.slice(name.length + 1)));
    const named = of(lost.keys()).filter((id) => !counted.has(id));
    const whys = new Map<string, number>();
    for (const id of named) {
      const why =
        lost
          .get(id)
          ?.replace(/127\.0\.0\.1:\d+/g, 'server')
          .slice(0, 140) ?? '';
      whys.set(why, (whys.get(why) ?? 0) + 1);
    }
    return {
      row: [name, starts, of(asked).length, of(counted).length, named.length, of(silent).length],
      whys: [...whys].map(([why, times]) => `${name}: ${times} × ${why}`),
    };
  });
}

/** Lets what is left in spools and exporters arrive. */
async function finish(world: World, ledger: string): Promise<ReadonlySet<string>> {
  world.network.change('pass');
  await Promise.all(world.senders.map((one) => one.stop('SIGTERM')));
  // What a killed process left is adopted a minute later at most.
  const adopters = world.senders.filter(({ kind }) => kind.isKept && !kind.onlyWrites);
  for (const one of adopters) one.start();
  const { silent } = compare(ledger, await countedIn(world.database));
  for (let looks = 0; looks < 60 && silent.length > 0; looks++) {
    await delay(1500);
    const counted = await countedIn(world.database);
    if (silent.every((id) => counted.has(id))) break;
  }
  await Promise.all(adopters.map((one) => one.stop('SIGTERM')));
  await world.database.verify();
  return countedIn(world.database);
}

async function countedIn(database: Database): Promise<ReadonlySet<string>> {
  const csv = await database.command('export', projectId, '--format', 'csv');
  const [, ...rows] = csv.trim().split(/\r?\n/);
  const ids = new Set(rows.map((row) => row.replace(/,.*/, '')));
  if (ids.size !== rows.length) throw new Error('a query is counted twice');
  return ids;
}

async function soak(workspace: Workspace, minutes: number, seed: string): Promise<boolean> {
  // Go adds all that these versions need.
  copyFileSync(`${senders}go/go.mod`, workspace.path('go.mod'));
  const modules = ['-mod=mod', `-modfile=${workspace.path('go.mod')}`];
  await workspace.run('go', ['build', '-C', `${senders}go`, ...modules, '-o', workspace.folder, './...']);
  const database = await Database.create(workspace, 'soak');
  const made = ['key', 'create', '--name', 'Soak', '--type', 'recording', '--project', projectId];
  const key = (await database.command(...made)).trim();
  const port = await freePort();
  const server = await serve(database, port);
  const network = new Network(port);
  const ledger = workspace.path('ledger');
  const env = { URL: await network.listen(), PROJECT: projectId, KEY: key, LEDGER: ledger };
  const all = kindsIn(workspace).map((kind) => new Sender(kind, env));
  const endMs = Date.now() + minutes * 60_000;
  const world: World = {
    database,
    network,
    port,
    senders: all,
    draw: new Draw(seed),
    endMs,
    lost: new Map(),
    server,
  };
  const stopAll = () => Promise.all(all.map((one) => one.stop('SIGKILL')));
  process.once('exit', () => void stopAll());
  for (const one of all) one.start();
  try {
    return await breakAndCompare(world, ledger, minutes);
  } finally {
    network.close();
    await stopAll();
  }
}

async function breakAndCompare(world: World, ledger: string, minutes: number): Promise<boolean> {
  await Promise.all([
    breakOften(world, 'server', (_, outage) => killServer(world, outage)),
    breakOften(world, 'network', (draw, outage) => breakNetwork(world, draw, outage)),
    ...[1, 2].map((at) =>
      breakOften(world, `senders ${at}`, (draw, outage) => endSender(world, draw, outage)),
    ),
  ]);
  const counted = await finish(world, ledger);
  return report(world, compare(ledger, counted), counted, minutes);
}

function report(
  world: World,
  result: ReturnType<typeof compare>,
  counted: ReadonlySet<string>,
  minutes: number,
): boolean {
  const rows = tableOf(world.senders, result, counted);
  const head = ['sender', 'processes', 'asked', 'counted', 'named as lost', 'lost in silence'];
  const lines = [head, ...rows.map(({ row }) => row.map(String))].map((cells) =>
    cells.map((cell, at) => (at === 0 ? cell.padEnd(20) : cell.padStart(head[at]?.length ?? 0))).join('  '),
  );
  const troubles = [
    ...result.silent.slice(0, 20).map((id) => `${id} is lost, and nobody said so`),
    ...result.strange.slice(0, 20).map((id) => `${id} is counted, and nobody asked it`),
  ];
  const broken = [...world.lost].sort().map(([what, times]) => `${what}: ${times}`);
  process.stdout.write(
    `${[...lines, '', ...rows.flatMap(({ whys }) => whys), '', broken.join(', ')].join('\n')}\n\n` +
      `${minutes} minutes, ${result.asked.size} queries: ` +
      `${troubles.length === 0 ? 'each is counted once or named as lost' : ['FAILED', ...troubles].join('\n')}\n`,
  );
  return troubles.length === 0;
}

try {
  const { values } = parseArgs({
    options: {
      minutes: { type: 'string', default: '60' },
      seed: { type: 'string', default: String(Date.now()) },
    },
  });
  const minutes = Number(values.minutes);
  if (!(minutes > 0 && minutes <= 10_000))
    throw new Error('usage: npx tsx bench/soak/outages.ts [--minutes N] [--seed S]');
  say(`seed ${values.seed}`);
  if (!(await withWorkspace((workspace) => soak(workspace, minutes, values.seed)))) process.exitCode = 1;
} catch (error) {
  process.stderr.write(`soak: ${error instanceof Error ? (error.stack ?? error.message) : String(error)}\n`);
  // What breaks things would go on.
  process.exit(1);
}
