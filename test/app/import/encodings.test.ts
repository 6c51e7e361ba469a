/** The same rows count the same, however they are encoded, compressed, split into files and joined again. */
import { Readable } from 'node:stream';
import { gzipSync } from 'node:zlib';
import fc from 'fast-check';
import { expect, test } from 'vitest';
import { openSource } from '../../../src/app/import/file/source.js';
import { selectReader } from '../../../src/app/import/formats.js';
import { runImport } from '../../../src/app/import/run.js';
import { type FormOptions, readForm } from '../../../src/cli/options/import-form.js';
import { nowMs } from '../../support/cli/import-records.js';

/** Imports the files into a list, one after the other, and returns its queries by id. */
async function importFiles(files: readonly Buffer[], options: FormOptions) {
  const stored = new Map<string, string>();
  const notes: string[] = [];
  for (const file of files) {
    const form = await readForm(options);
    await runImport({
      sources: [await openSource('-', Readable.from([file]))],
      selectReader: (name) => selectReader(form, name),
      strict: false,
      sink: async (queries) => {
        for (const { id, caller, occurredAt } of queries) stored.set(id, `${caller} ${occurredAt}`);
        return { recorded: queries.length, duplicates: 0 };
      },
      clock: { now: () => nowMs },
      progress: { advance: () => {}, show: () => {}, note: (line) => notes.push(line) },
    });
  }
  return { stored: [...stored].sort(), notes };
}

const encodings: Readonly<Record<string, (text: string) => Buffer>> = {
  'utf-8': (text) => Buffer.from(text),
  'utf-16le': (text) => Buffer.from(text, 'utf16le'),
  'utf-16be': (text) => Buffer.from(text, 'utf16le').swap16(),
};

const ids = fc.uniqueArray(fc.stringMatching(/^[a-zé😀0-9]{1,8}$/u), { minLength: 1, maxLength: 12 });

const formats: [format: string, header: string, row: (id: string) => string, options: FormOptions][] = [
  ['ndjson', '', (id) => `{"id":"${id}","caller":"web","occurredAt":"2026-06-15T12:00:00Z"}\n`, {}],
  ['csv', 'id;caller\r\n', (id) => `${id};web\r\n`, { format: 'csv' }],
  [
    'access-log',
    '',
    (id) =>
      `192.0.2.1 - - [15/Jun/2026:14:00:00 +0200] "POST /a HTTP/1.1" 200 5 "-" "${encodeURIComponent(id)}"\n`,
    { format: 'access-log', path: '^/a', caller: 'web' },
  ],
];

test.each(formats)('%s', async (_format, header, row, options) => {
  const property = fc.asyncProperty(
    ids,
    fc.array(fc.nat({ max: 12 }), { maxLength: 3 }),
    fc.constantFrom(...Object.values(encodings)),
    fc.boolean(),
    fc.boolean(),
    async (all, cuts, encode, isMarked, isPacked) => {
      const expected = await importFiles([Buffer.from(header + all.map(row).join(''))], options);
      const bounds = [0, ...cuts.toSorted((one, other) => one - other), all.length];
      const parts = bounds
        .slice(1)
        .map((end, at) => all.slice(bounds[at], end).map(row).join(''))
        .filter((part) => part !== '');
      const files = parts.map((part) => encode(`${isMarked ? '\ufeff' : ''}${header}${part}`));
      const joined = header === '' ? [Buffer.concat(files)] : files;
      for (const some of [files, joined]) {
        const found = await importFiles(isPacked ? some.map((file) => gzipSync(file)) : some, options);
        expect(found).toEqual(expected);
      }
      expect(expected.notes).toEqual([]);
      expect(expected.stored).toHaveLength(all.length);
    },
  );
  await fc.assert(property, { numRuns: 60 });
});
