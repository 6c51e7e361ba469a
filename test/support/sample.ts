import { readFileSync } from 'node:fs';
import { fileURLToPath } from 'node:url';
import { gunzipSync } from 'node:zlib';
import type { Counts } from '../../src/domain/counting/counts.js';

/** Real events, whose expected counts another program computed; see `demo/README.md`. */
export const sampleFile = fileURLToPath(new URL('../../demo/changes.ndjson.gz', import.meta.url));

export interface Expected {
  readonly lines: number;
  readonly queries: number;
  readonly duplicates: number;
  readonly ranges: readonly {
    readonly query: { readonly dateFrom?: string; readonly dateTo?: string };
    readonly counts: Counts;
  }[];
}

export const expected = JSON.parse(
  readFileSync(new URL('../../demo/changes.expected.json', import.meta.url), 'utf8'),
) as Expected;

interface Event {
  readonly id: string;
  readonly caller: string;
  readonly occurredAt: string;
}

/** The events of some lines. */
export const eventsOf = (lines: readonly string[]) => lines.map((line) => JSON.parse(line) as Event);

/** The counts of the whole sample. */
export const sampleCounts = expected.ranges[0]?.counts;

/** The sample's lines, in the recording format. */
export function sampleLines(): string[] {
  return gunzipSync(readFileSync(sampleFile)).toString('utf8').trimEnd().split('\n');
}
