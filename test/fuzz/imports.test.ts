/** Imports files with good and bad lines in every format: no good line is lost, and each bad one is reported. */
import { readFileSync } from 'node:fs';
import { Readable } from 'node:stream';
import { gzipSync } from 'node:zlib';
import { describe, expect, test } from 'vitest';
import { openSource } from '../../src/app/import/file/source.js';
import { selectReader } from '../../src/app/import/formats.js';
import { type ImportTotals, runImport } from '../../src/app/import/run.js';
import { type FormOptions, readForm } from '../../src/cli/options/import-form.js';
import type { Query } from '../../src/domain/queries/query.js';
import { nowMs } from '../support/cli/import-records.js';
import { sampleLines } from '../support/sample.js';
import { newSeed } from '../support/volume.js';
import { importFile, KINDS } from './import-bytes.js';
import { Random } from './random.js';

const seed = newSeed('fuzz/imports');

interface Imported {
  readonly totals: ImportTotals;
  /** The recorded queries in order, each id once. */
  readonly queries: readonly Query[];
  /** The numbers of the lines that were reported as bad. */
  readonly badLines: readonly number[];
  /** Other messages. */
  readonly messages: readonly string[];
}

/** Imports the bytes in chunks, as `import -` does, into a list. */
async function importBytes(
  bytes: Buffer,
  options: FormOptions,
  chunkBytes: number,
  strict = false,
): Promise<Imported> {
  const pieces = Array.from({ length: Math.ceil(bytes.length / chunkBytes) }, (_, at) =>
    bytes.subarray(at * chunkBytes, (at + 1) * chunkBytes),
  );
  const form = await readForm(options);
  const stored = new Map<string, Query>();
  const notes: string[] = [];
  const totals = await runImport({
    sources: [await openSource('-', Readable.from(pieces))],
    selectReader: (name) => selectReader(form, name),
    strict,
    namedMax: Number.POSITIVE_INFINITY,
    sink: async (queries) => {
      const before = stored.size;
      for (const query of queries) if (!stored.has(query.id)) stored.set(query.id, query);
      return { recorded: stored.size - before, duplicates: queries.length - (stored.size - before) };
    },
    clock: { now: () => nowMs },
    progress: { advance: () => {}, show: () => {}, note: (line) => notes.push(line) },
  });
  const lineOf = (note: string): number => Number(/^stdin:(\d+): .+/s.exec(note)?.[1]);
  return {
    totals,
    queries: [...stored.values()],
    badLines: notes.map(lineOf).filter((line) => !Number.isNaN(line)),
    messages: notes.filter((note) => Number.isNaN(lineOf(note))),
  };
}

const files = 20;

describe.each(Object.entries(KINDS))('%s', (_name, kind) => {
  test('every good line is recorded once, and every bad line is reported with its number', async () => {
    const random = new Random(seed, 0);
    for (let left = files; left > 0; left--) {
      const { options, bytes, good, bad, skipped } = importFile(kind, 1 + random.int(120), random);
      const packed = random.oneIn(3) ? gzipSync(bytes) : bytes;
      const { totals, queries, badLines, messages } = await importBytes(
        packed,
        options,
        1 + random.int(5000),
      );
      expect([badLines.toSorted((a, b) => a - b), messages]).toEqual([bad, []]);
      const expected = new Map([...good].map(([line, query]) => [query.id ?? line, query]));
      const counts = {
        read: good.size + bad.length + skipped.length,
        bad: bad.length,
        skipped: skipped.length,
      };
      const recorded = expected.size;
      expect(totals).toEqual({ ...counts, recorded, duplicates: good.size - recorded });
      expect(queries.map(({ id, ...rest }) => ({ ...rest, id: kind.hasNoIds ? undefined : id }))).toEqual([
        ...expected.values(),
      ]);
    }
  });
});

/** Frames: queries, nothing, a skippable one, and queries. */
const zstd = readFileSync(new URL('../samples/queries-600.ndjson.zst', import.meta.url));
const frameStarts = [...zstd.keys()].slice(0, -3).filter((at) => {
  const magic = zstd.readUInt32LE(at);
  return magic === 0xfd2fb528 || magic >>> 4 === 0x184d2a5;
});
const lines = sampleLines().slice(0, 600);
const gzip = gzipSync(`${lines.join('\n')}\n`);
const NDJSON: FormOptions = { format: 'ndjson' };
const idOf = (line: string): unknown => (JSON.parse(line) as { id: unknown }).id;
const DAMAGE = /^stdin: cannot be read to its end: its (gzip|Zstandard) data is (cut short|damaged)$/;

test('Zstandard data that ends where a frame ends is whole', async () => {
  const ends = frameStarts.slice(1);
  expect(ends).toHaveLength(3);
  for (const end of ends) {
    const { queries, messages } = await importBytes(zstd.subarray(0, end), NDJSON, 1000);
    expect([end, queries.length > 0, messages]).toEqual([end, true, []]);
  }
});

describe.each([
  ['gzip', gzip, 100],
  ['Zstandard', zstd, 30],
] as const)('%s', (_name, packed, cases) => {
  test('data that is cut is recorded up to the cut, and reported as damaged', async () => {
    const random = new Random(seed, 1);
    const ids = [...new Set(lines.map(idOf))];
    for (let left = cases; left > 0; left--) {
      const length = 4 + random.int(packed.length - 4);
      if (packed === zstd && frameStarts.includes(length)) continue;
      const { queries, badLines, messages } = await importBytes(
        packed.subarray(0, length),
        NDJSON,
        1 + random.int(9000),
      );
      expect([length, badLines, messages]).toEqual([length, [], [expect.stringMatching(DAMAGE)]]);
      expect(queries.map(({ id }) => id)).toEqual(ids.slice(0, queries.length));
    }
  });

  test('data with a changed byte is read unchanged or, with --strict, not recorded at all', async () => {
    const random = new Random(seed, 2);
    for (let left = cases; left > 0; left--) {
      const bytes = Buffer.from(packed);
      const at = 4 + random.int(bytes.length - 4);
      bytes[at] = (bytes[at] ?? 0) ^ (1 + random.int(255));
      const { totals, messages } = await importBytes(bytes, NDJSON, 1 + random.int(9000), true);
      if (totals.bad === 0) expect([at, totals.read, messages]).toEqual([at, lines.length, []]);
      else expect([at, totals.recorded]).toEqual([at, 0]);
    }
  });
});
