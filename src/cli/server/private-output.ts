/**
 * Shows keys and links to the operator only: on a terminal, or else in a file that only its owner can read. What a server
 * prints otherwise is usually kept in a log, which more people read.
 */
import { open, readFile, rename, rm } from 'node:fs/promises';
import { dirname } from 'node:path';
import type { PrivateOutput } from '../../app/first-run.js';
import { CallerStatsError } from '../../domain/errors.js';
import { createPrivate } from '../../shared/create-private.js';
import { flushFolder } from '../../shared/flush.js';
import { regularStatsOf } from '../../storage/files.js';
import { locationOf } from '../../storage/open.js';
import type { Io } from '../io.js';
import { SETTINGS, type Values } from '../settings/settings.js';
import { printLine } from '../terminal/output.js';

/** Undefined if there is neither a terminal nor a file. */
export function openPrivateOutput(
  { firstRunFile, database }: Values<'firstRunFile' | 'database'>,
  { stdout, stdoutIsTerminal }: Pick<Io, 'stdout' | 'stdoutIsTerminal'>,
): PrivateOutput | undefined {
  const location = locationOf(database);
  const beside = location.kind === 'sqlite' ? `${location.file}.first-run` : undefined;
  const file = firstRunFile ?? (stdoutIsTerminal ? '-' : beside);
  if (file === undefined) return undefined;
  if (file === '-') {
    return {
      prepare: async () => {},
      show: async (_what, lines) => {
        for (const line of lines) printLine(stdout, line);
      },
    };
  }
  return {
    prepare: () => append(file, []),
    show: async (what, lines) => {
      await append(file, lines);
      const advice = 'which only its owner can read. Delete it when you have read it.';
      printLine(stdout, `${what}: in the file ${file}, ${advice}`);
    },
  };
}

/** Links of earlier starts, which no longer work, make room for the new one. */
async function append(file: string, lines: readonly string[]): Promise<void> {
  regularStatsOf(file);
  try {
    if (await replaceEarlier(file, lines)) return;
    const handle = await createPrivate(file).catch(() => open(file, 'a', 0o600));
    try {
      // The file may exist already.
      await handle.chmod(0o600);
      await handle.appendFile(lines.map((line) => `${line}\n`).join(''));
      await handle.sync();
    } finally {
      await handle.close();
    }
    flushFolder(dirname(file));
  } catch (cause) {
    const advice = `set ${SETTINGS.firstRunFile.environment} to a file that can be written, or to - for standard output`;
    throw new CallerStatsError(
      'invalid',
      `The file for the first keys ${file} cannot be written; ${advice}.`,
      {
        cause,
      },
    );
  }
}

/** Writes the file anew if it has lines that begin with the same one, without these. A crash leaves the old file or the new one. */
async function replaceEarlier(file: string, lines: readonly string[]): Promise<boolean> {
  const [first = ''] = lines;
  const there = first === '' ? [] : (await readFile(file, 'utf8').catch(() => '')).split('\n');
  if (!there.includes(first)) return false;
  const kept = there.filter(
    (_, at) => !lines.some((_line, below) => there[at - below] === first && at >= below),
  );
  const draft = `${file}.new`;
  await rm(draft, { force: true });
  const handle = await createPrivate(draft, file);
  try {
    await handle.writeFile([...kept.slice(0, -1), ...lines, ''].join('\n'));
    await handle.sync();
  } finally {
    await handle.close();
  }
  await rename(draft, file);
  flushFolder(dirname(file));
  return true;
}
