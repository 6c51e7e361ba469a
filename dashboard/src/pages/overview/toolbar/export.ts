/** Makes files of the numbers on screen. */
import { callersToCsv, seriesToCsv } from '../../../../../src/domain/counting/csv.js';
import type { Reading } from '../../../api/stats.js';
import type { Callers, Project } from '../../../api/types.js';
import { fileName } from '../../../format/files.js';
import { saveFile } from '../../../format/save-file.js';
import type { View } from '../../../navigation/view.js';
import type { Range } from '../../../time/range.js';
import { toLocal } from '../../../time/zone.js';
import { choiceName } from './choice-name.js';

export type ExportKind = 'series-csv' | 'series-json' | 'callers-csv' | 'callers-json' | 'totals-json';

interface Exported {
  readonly project: Project;
  readonly view: View;
  readonly range: Range;
  readonly reading: Reading;
}

export function exportNumbers(kind: ExportKind, { project, view, range, reading }: Exported): void {
  const [what, text] = contentOf(kind, reading, view.caller);
  const end = kind.endsWith('csv') ? 'csv' : 'json';
  const type = end === 'csv' ? 'text/csv' : 'application/json';
  saveFile(`${exportName(project, view, range, what)}.${end}`, new Blob([text], { type }));
}

/** The name of a file without its ending: project, caller, dates and what is in it. */
export function exportName(project: Project, view: View, range: Range, what: string): string {
  const who = view.caller === null ? [] : [view.caller];
  return fileName(project.id, ...who, when(view, range), what);
}

function contentOf(
  kind: ExportKind,
  { counts, series, callers }: Reading,
  caller: string | null,
): [what: string, text: string] {
  const json = (value: unknown): string => `${JSON.stringify(value, null, 2)}\n`;
  const shown = onlyCaller(callers, caller);
  switch (kind) {
    case 'series-csv':
      return [series.interval, seriesToCsv(series)];
    case 'series-json':
      return [series.interval, json(series)];
    case 'callers-csv':
      return ['callers', callersToCsv(shown)];
    case 'callers-json':
      return ['callers', json(shown)];
    case 'totals-json':
      return ['totals', json(counts)];
  }
}

function onlyCaller(all: Callers, caller: string | null): Callers {
  if (caller === null) return all;
  const callers = all.callers.filter((one) => one.caller === caller);
  return { total: callers.reduce((sum, one) => sum + one.count, 0), callers };
}

function when(view: View, range: Range): string {
  if (range.from === null || range.to === null) return choiceName(view.choice, view.zone).toLowerCase();
  return `${toLocal(range.from, view.zone).day}-to-${toLocal(range.to - 1, view.zone).day}`;
}
