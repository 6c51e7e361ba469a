/**
 * `npm run profile` profiles the benchmarks that miss their targets and writes `bench/profiles.md`; `npm run profile --
 * NAME` shows one. Profiling slows the process down: read the shares, not the milliseconds.
 */
import { mkdirSync, writeFileSync } from 'node:fs';
import { SUBJECTS, type Subject } from './profile-subjects.js';
import { type Share, type ThreadTime, threadTimes } from './support/cpu-profile.js';
import { describeMachine } from './support/machine.js';
import { type Workspace, withWorkspace } from './support/workspace.js';

const partsShown = 10;
const functionsShown = 8;
/** Sampling interval in microseconds. */
const sampleUs = 500;

const resultsFile = new URL('profiles.md', import.meta.url);

async function writeSection(name: string, { what, run, facts, wouldTake }: Subject): Promise<string> {
  process.stderr.write(`profiling: ${name}\n`);
  const seen = await withWorkspace(async (workspace) => [
    ...(run === undefined ? [] : await profileSubject(workspace, run)),
    ...(facts === undefined ? [] : [(await facts(workspace)).map((fact) => `- ${fact}`).join('\n')]),
  ]);
  return [`## ${name}`, what, ...seen, `**What it would take.** ${wouldTake}`].join('\n\n');
}

async function profileSubject(workspace: Workspace, run: NonNullable<Subject['run']>): Promise<string[]> {
  const folder = workspace.path('profiles');
  mkdirSync(folder);
  const options = ['--cpu-prof', `--cpu-prof-dir=${folder}`, `--cpu-prof-interval=${sampleUs}`];
  const fromMs = await run(workspace, options);
  return threadTimes(folder, fromMs).map((thread, at) =>
    threadText(at === 0 ? 'Main thread' : 'The writer thread', thread),
  );
}

function threadText(name: string, { busyMs, parts, functions }: ThreadTime): string {
  return [
    `${name}, busy for ${Math.round(busyMs).toLocaleString('en-US')} ms:`,
    formatShares(parts.slice(0, partsShown)),
    'the functions with the largest shares:',
    formatShares(functions.slice(0, functionsShown)),
  ].join('\n\n');
}

function formatShares(shares: readonly Share[]): string {
  return shares.map(({ what, share }) => `- ${(share * 100).toFixed(1)} % ${what}`).join('\n');
}

const asked = process.argv.slice(2);
const unknown = asked.find((name) => !Object.hasOwn(SUBJECTS, name));
if (unknown !== undefined) {
  process.stderr.write(
    `profile: ${unknown} cannot be profiled; choose from: ${Object.keys(SUBJECTS).join(', ')}\n`,
  );
  process.exit(1);
}
const sections: string[] = [];
for (const [name, subject] of Object.entries(SUBJECTS))
  if (asked.length === 0 || asked.includes(name)) sections.push(await writeSection(name, subject));
const text = [
  '# Where the time goes',
  'Written by `npm run profile`; do not edit. The missed targets are in [results.md](results.md). Parts are folders of this ' +
    'program and packages; the time of a part includes the system calls of its functions. ' +
    "V8's profiler counts too much for native calls: `perf` gives `writev` 29 % of an export and SQLite's `run`, with `get`, 7 %.",
  describeMachine()
    .map((line) => `- ${line}`)
    .join('\n'),
  ...sections,
].join('\n\n');
if (asked.length === 0) writeFileSync(resultsFile, `${text}\n`);
process.stdout.write(`${text}\n`);
