/** Records the stories, and lets the power fail at many of their moments. */
import { cpSync, mkdirSync, mkdtempSync, readdirSync, rmSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { setImmediate } from 'node:timers/promises';
import { setFlagsFromString } from 'node:v8';
import { runInNewContext } from 'node:vm';
import { Draw } from '../draw.js';
import type { Check } from './checks.js';
import { Disk, type Planted } from './disk.js';
import type { Mark } from './marks.js';
import { type Call, readTrace, record } from './trace.js';

setFlagsFromString('--expose-gc');
/** The driver keeps the files of a closed database open until its statements are collected, and states are thousands of databases. */
const collectGarbage: () => void = runInNewContext('gc');
/** A process may usually open 1,024 files. */
const openFilesMax = 500;

/** What a process did to a folder, which had this contents before. */
export interface Recorded {
  readonly folder: string;
  readonly before: string;
  readonly calls: readonly Call[];
}

/** Runs a story of `process.ts` and records it. `prepare` fills the folder before. */
export async function recordStory(
  story: string,
  place: string,
  prepare: (folder: string) => void = () => {},
): Promise<Recorded> {
  const [folder, before] = [join(place, story, 'disk'), join(place, story, 'before')];
  const [marks, output] = [join(place, story, 'marks'), join(place, story, 'trace')];
  mkdirSync(folder, { recursive: true });
  prepare(folder);
  cpSync(folder, before, { recursive: true });
  writeFileSync(marks, '');
  await record(new URL('process.ts', import.meta.url), { args: [story], folder, marks, output });
  const calls = await readTrace(output, folder, marks);
  rmSync(output);
  // If the disk has understood everything, it contains now what the folder contains.
  const disk = new Disk(folder, before);
  for (const call of calls) disk.take(call);
  const differences = disk.differences();
  if (differences.length > 0) throw new Error(`the record is not complete: ${differences.join(', ')}`);
  return { folder, before, calls };
}

export interface PowerLoss {
  readonly seed: string;
  readonly states: number;
  readonly check: Check;
  /** An empty folder, in which the states are made. */
  readonly place: string;
}

/** Checks what the disk may contain at random moments after the mark `begin`. Returns the problems. */
export async function losePower(recorded: Recorded, given: PowerLoss): Promise<string[]> {
  const { calls } = recorded;
  const begin = calls.findIndex((call) => call.kind === 'mark' && call.text.includes('"begin"'));
  const draw = new Draw(given.seed);
  const moments = new Map<number, number>();
  for (let state = 0; state < given.states; state++) {
    const moment = begin + 1 + draw.below(calls.length - begin);
    moments.set(moment, (moments.get(moment) ?? 0) + 1);
  }
  const problems: string[] = [];
  for (const { moment, disk, marks } of replay(recorded)) {
    for (let state = 0; state < (moments.get(moment) ?? 0); state++)
      problems.push(
        ...(await problemsAfter(disk, marks, recorded, given, `moment ${moment}, state ${state}`)),
      );
  }
  return problems;
}

/**
 * The same with syncs that do nothing, at moments from the first of these on, until there is a problem. Returns it, and the
 * number of states until then.
 */
export async function loseSyncs(
  recorded: Recorded,
  planted: Planted,
  given: PowerLoss,
): Promise<{ readonly states: number; readonly problem: string | undefined }> {
  let states = 0;
  for (let round = 0; states < given.states; round++) {
    const before = states;
    for (const { moment, disk, marks } of replay(recorded, planted)) {
      // Every seventh moment, from another one on in each round.
      if (disk.skipped === 0 || (moment + round) % 7 !== 0) continue;
      states++;
      const [problem] = await problemsAfter(disk, marks, recorded, given, `moment ${moment}, round ${round}`);
      if (problem !== undefined) return { states, problem };
    }
    if (states === before) throw new Error('no sync was left out');
  }
  return { states, problem: undefined };
}

/** The disk and the marks before each call. */
function* replay({ folder, before, calls }: Recorded, planted?: Planted) {
  const disk = new Disk(folder, before, planted);
  const marks: Mark[] = [];
  for (let moment = 0; moment <= calls.length; moment++) {
    yield { moment, disk, marks };
    const call = calls[moment];
    if (call === undefined) return;
    disk.take(call);
    if (call.kind !== 'mark') continue;
    const mark = JSON.parse(call.text) as Mark;
    marks.push(mark);
    if (mark.kind === 'begin') disk.syncAll();
  }
}

async function problemsAfter(
  disk: Disk,
  marks: readonly Mark[],
  { folder }: Recorded,
  { seed, place, check }: PowerLoss,
  name: string,
): Promise<string[]> {
  if (readdirSync('/proc/self/fd').length > openFilesMax) {
    collectGarbage();
    await setImmediate();
  }
  const target = mkdtempSync(join(place, 'state-'));
  try {
    disk.writeAfterPowerLoss(target, new Draw(`${seed}, ${name}`));
    const found = await problemsAt(check, marks, (path) => target + path.slice(folder.length));
    return found.map((problem) => `seed ${seed}, ${name}: ${problem}`);
  } finally {
    rmSync(target, { recursive: true });
  }
}

/** A program that does not start is a problem, too. */
async function problemsAt(
  check: Check,
  marks: readonly Mark[],
  at: (path: string) => string,
): Promise<readonly string[]> {
  try {
    return await check(marks, at);
  } catch (error) {
    return [(error as Error).message];
  }
}
