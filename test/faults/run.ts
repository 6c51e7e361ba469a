/**
 * `npm run faults -- --minutes N --seed S [--store sqlite|postgres] [--fault NAME] [--queries N]` causes faults for some
 * minutes and prints the result. At least `--queries` queries are recorded before each fault. The exit status is 1 if
 * there is a problem. The same seed gives the same plan.
 */
import { parseArgs } from 'node:util';
import { newestPostgres, startPostgres } from '../support/postgres/postgres-server.js';
import { Campaign, faultsOf, type Verdict } from './campaign.js';
import { worldsOn } from './worlds.js';

/** About two seconds of recording. */
const queriesBeforeFault = 30_000;

const usage =
  'npm run faults -- --minutes N --seed S [--store sqlite|postgres] [--fault NAME] [--queries N]; faults: ';

function readPlan() {
  const { values } = parseArgs({
    options: {
      minutes: { type: 'string', default: '5' },
      seed: { type: 'string', default: '1' },
      store: { type: 'string', default: 'sqlite' },
      fault: { type: 'string' },
      queries: { type: 'string', default: String(queriesBeforeFault) },
    },
  });
  const [minutes, queries] = [Number(values.minutes), Number(values.queries)];
  const { seed, store, fault } = values;
  if (!(minutes > 0 && queries > 0) || (store !== 'sqlite' && store !== 'postgres'))
    throw new Error(`${usage}${faultsOf('sqlite').map(({ name }) => name)}`);
  return { seed, store, fault, minutes, queries } as const;
}

async function main(): Promise<void> {
  const { seed, store, fault, minutes, queries } = readPlan();
  process.stdout.write(`seed ${seed}, ${store}, ${minutes} minutes\n`);
  const server = store === 'postgres' ? await startPostgres(newestPostgres()) : undefined;
  const chosen = faultsOf(store, server).filter(({ name }) => fault === undefined || name === fault);
  const makeWorld = await worldsOn(server);
  const campaign = new Campaign({ seed, store, queries, faults: chosen }, makeWorld.next);
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
    await makeWorld.end();
    await server?.stop();
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
