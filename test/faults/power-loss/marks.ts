/** What the recorded process knows: it writes each fact to its file of marks as soon as the program has told it. */
import { openSync, writeSync } from 'node:fs';
import type { Entry } from '../history.js';

export type Mark =
  /** Everything before is as old as the machine: durable without a sync. */
  | { readonly kind: 'begin' }
  | { readonly kind: 'history'; readonly entry: Entry }
  /** The server has started and printed what it prints. */
  | { readonly kind: 'started'; readonly secret: string; readonly firstRun: string }
  | { readonly kind: 'key'; readonly value: string; readonly project: string; readonly works: boolean }
  /** A change of this key has begun, so that it may work or not. */
  | { readonly kind: 'key-change'; readonly value: string }
  | { readonly kind: 'migrated'; readonly version: number }
  /** A backup with exactly these blocks has been started, or the last one was reported as complete. */
  | { readonly kind: 'backup'; readonly file: string; readonly blocks: readonly number[] }
  | { readonly kind: 'backed-up' }
  /** A restore over a database with the blocks `old` (null if there was none) has been started or reported. */
  | {
      readonly kind: 'restore';
      readonly file: string;
      readonly blocks: readonly number[];
      readonly old: readonly number[] | null;
    }
  | { readonly kind: 'restored'; readonly file: string }
  /** Queries that the spool has taken, and those that it may forget from now on. */
  | { readonly kind: 'spooled'; readonly ids: readonly string[] }
  | { readonly kind: 'settling'; readonly ids: readonly string[] };

/** Marks are in the order of the process's writes, because they are writes. */
export function openMarks(file: string): (mark: Mark) => void {
  const descriptor = openSync(file, 'a');
  return (mark) => void writeSync(descriptor, JSON.stringify(mark));
}
