/**
 * `npm run faults -- --minutes N --seed S [--store sqlite|postgres] [--fault NAME] [--queries N]` breaks things for so
 * long, and says what came of it. Before each fault, so many queries are recorded at least. Exits with 1 where anything
 * is wrong. The same seed makes the same plan.
 */
import { parseArgs } from 'node:util';
import { Campaign, FAULTS, type Plan, type Verdict } from './campaign.js';
import type { StoreKind } from './fault.js';
import { World } from './world.js';

/** About two seconds of recording. */
const queriesBeforeFault = 30_000;

const names = FAULTS.map(({ name }) => name).join(', ');
const usage = `npm run faults -- --minutes N --seed S [--store sqlite|postgres] [--fault NAME] [--queries N]; faults: ${names}`;

function readPlan(): Plan & { readonly minutes: number } {
  const { values } = parseArgs({
    options: {
      minutes: { type: 'string', default: '5' },
      seed: { type: 'string', default: '1' },
      store: { type: 'string', default: 'sqlite' },
      fault: { type: 'string' },
      queries: { type: 'string', default: String(queriesBeforeFault) },
    },
  });
  const minutes = Number(values.minutes);
  const store = values.store as StoreKind;
  const faults = FAULTS.filter(
    ({ name, stores }) => stores.includes(store) && (values.fault === undefined || name === values.fault),
  );
  if (!(minutes > 0) || faults.length === 0) throw new Error(usage);
  return { seed: values.seed, store, queries: Number(values.queries), faults, minutes };
}

async function main(): Promise<void> {
  const { minutes, ...plan } = readPlan();
  process.stdout.write(`seed ${plan.seed}, ${plan.store}, ${minutes} minutes\n`);
  const template = await World.create();
  const until = performance.now() + minutes * 60_000;
  const campaign = new Campaign(plan, () => template.copy());
  try {
    while (performance.now() < until) {
      const problems = await campaign.round();
      for (const problem of problems) process.stdout.write(`${problem}\n`);
      if (problems.length > 0) break;
    }
  } finally {
    const verdict = await campaign.end();
    await template.close();
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
