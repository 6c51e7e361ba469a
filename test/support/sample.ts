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

/** The sample's lines, in the recording format. */
export function sampleLines(): string[] {
  return gunzipSync(readFileSync(sampleFile)).toString('utf8').trimEnd().split('\n');
}
