/** Exports of a project as text, and imports of them. */
import { expect } from 'vitest';
import { recordCarriedCounts, recordCarriedQueries, restoreCorrection } from '../../src/app/carried.js';
import { exportQueries } from '../../src/app/export/export.js';
import type { ExportFormat } from '../../src/app/export/rows.js';
import { selectReader } from '../../src/app/import/formats.js';
import { runImport } from '../../src/app/import/run.js';
import { readForm } from '../../src/cli/options/import-form.js';
import { ALL_TIME } from '../../src/domain/counting/date-range.js';
import type { Store } from '../../src/storage/ports/store.js';

/** Much later than all queries of the laws. */
const clock = { now: () => Date.UTC(9999, 11, 31, 23, 59, 59, 999) };

export async function exported(
  store: Store,
  projectId: string,
  format: ExportFormat,
  asked: object = {},
): Promise<string> {
  let text = '';
  const receipts = { from: undefined, to: undefined, sender: undefined };
  const request = { projectId, range: ALL_TIME, caller: undefined, receipts, format, ...asked };
  for await (const part of exportQueries(store, request)) text += part;
  return text;
}

export async function imported(store: Store, projectId: string, text: string, format: ExportFormat) {
  const form = await readForm({ format });
  const notes: string[] = [];
  const totals = await runImport({
    sources: [{ name: 'export', sizeBytes: undefined, read: () => pieces(Buffer.from(text)) }],
    selectReader: (name) => selectReader(form, name),
    strict: false,
    sink: (batch) => recordCarriedQueries({ store, clock }, { kind: 'copy' }, projectId, batch),
    restore: (carried) => restoreCorrection({ store, clock }, projectId, carried),
    restoreCounts: (counts) => recordCarriedCounts({ store, clock }, projectId, counts),
    clock,
    progress: { advance: () => {}, show: () => {}, note: (line) => void notes.push(line) },
  });
  expect(notes).toEqual([]);
  return totals;
}

async function* pieces(bytes: Buffer): AsyncGenerator<Buffer> {
  for (let at = 0; at < bytes.length; at += 997) yield bytes.subarray(at, at + 997);
}
