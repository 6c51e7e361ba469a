/**
 * `npm run faults -- --minutes N --seed S [--store sqlite|postgres] [--fault NAME] [--queries N]` causes faults for some
 * minutes and prints the result. At least `--queries` queries are recorded before each fault. The exit status is 1 if
 * there is a problem. The same seed gives the same plan. `--database URL --kill COMMAND --start COMMAND` uses a running
 * PostgreSQL database or Citus cluster, and the commands for one of its servers.
 */
import { parseArgs } from 'node:util';
import { newestPostgres, startPostgres } from '../support/postgres/postgres-server.js';
import { Campaign, faultsOf, type Verdict } from './campaign.js';
import { serverOfCommands, worldsIn } from './external.js';
import type { DatabaseServer } from './fault.js';
import { type Worlds, worldsOn } from './worlds.js';

/** About two seconds of recording. */
const queriesBeforeFault = 30_000;

const usage =
  'npm run faults -- --minutes N --seed S [--store sqlite|postgres] [--fault NAME] [--queries N] ' +
  '[--database URL --kill COMMAND --start COMMAND]; faults: ';

function readPlan() {
  const { values } = parseArgs({
    options: {
      minutes: { type: 'string', default: '5' },
      seed: { type: 'string', default: '1' },
      store: { type: 'string', default: 'sqlite' },
      fault: { type: 'string' },
      queries: { type: 'string', default: String(queriesBeforeFault) },
      database: { type: 'string' },
      kill: { type: 'string' },
      start: { type: 'string' },
    },
  });
  const [minutes, queries] = [Number(values.minutes), Number(values.queries)];
  const { seed, fault, database, kill, start } = values;
  const store = database === undefined ? values.store : 'postgres';
  const isComplete = database === undefined || (kill !== undefined && start !== undefined);
  if (!(minutes > 0 && queries > 0 && isComplete) || (store !== 'sqlite' && store !== 'postgres'))
    throw new Error(`${usage}${faultsOf('sqlite').map(({ name }) => name)}`);
  return { seed, store, fault, minutes, queries, database, kill, start } as const;
}

interface Place {
  readonly server: DatabaseServer | undefined;
  readonly worlds: Worlds;
  readonly stop: () => Promise<void>;
}

async function openPlace({
  store,
  database,
  kill = '',
  start = '',
}: ReturnType<typeof readPlan>): Promise<Place> {
  if (database !== undefined) {
    const worlds = await worldsIn(database);
    return { server: serverOfCommands(kill, start), worlds, stop: worlds.end };
  }
  const server = store === 'postgres' ? await startPostgres(newestPostgres()) : undefined;
  const worlds = await worldsOn(server);
  const stop = async () => {
    await worlds.end();
    await server?.stop();
  };
  return { server, worlds, stop };
}

async function main(): Promise<void> {
  const plan = readPlan();
  const { seed, store, fault, minutes, queries } = plan;
  process.stdout.write(`seed ${seed}, ${store}, ${minutes} minutes\n`);
  const { server, worlds, stop } = await openPlace(plan);
  const chosen = faultsOf(store, server).filter(({ name }) => fault === undefined || name === fault);
  const campaign = new Campaign({ seed, store, queries, faults: chosen }, worlds.next);
  const until = performance.now() + minutes * 60_000;
  try {
    if (chosen.length === 0) throw new Error(`${usage}${faultsOf(store, server).map(({ name }) => name)}`);
    while (performance.now() < until) {
      const problems = await campaign.round();
      for (const problem of problems) process.stdout.write(`${problem}\n`);
      if (problems.length > 0) break;
    }
  } finally {
    const verdict = await campaign.end();
    await stop();
    print(verdict);
    if (verdict.problems.length > 0) process.exitCode = 1;
  }
}

function print({ tally, acknowledged, requests, outcomes, keyChanges, problems }: Verdict): void {
  const named = (counts: ReadonlyMap<string, number>): string =>
    [...counts]
      .toSorted()
      .map(([name, times]) => `\n  ${name}: ${times.toLocaleString('en')}`)
      .join('');
  const lines = [
    `rounds ${tally.rounds}, kills ${tally.kills}, key changes ${keyChanges}`,
    `events acknowledged ${acknowledged.toLocaleString('en')}, requests ${requests.toLocaleString('en')}`,
    `faults:${named(tally.faults)}`,
    `notes:${named(tally.notes)}`,
    `answers:${named(outcomes)}`,
    ...problems,
    `mismatches ${problems.length}: ${problems.length === 0 ? 'nothing was lost, nothing counted twice' : 'FAILED'}`,
  ];
  process.stdout.write(`${lines.join('\n')}\n`);
}

await main();
