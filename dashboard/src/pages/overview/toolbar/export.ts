/** Makes files of the numbers on screen, in the form of the API's answers. */
import { callersToCsv, seriesToCsv } from '../../../../../src/domain/counting/csv.js';
import type { Numbers, Project, Series } from '../../../api/types.js';
import { choiceName } from '../../../format/dates.js';
import { fileName } from '../../../format/files.js';
import { saveFile } from '../../../format/save-file.js';
import type { View } from '../../../navigation/view.js';
import { daysOf } from '../../../time/local.js';

export type ExportKind = 'series-csv' | 'series-json' | 'callers-csv' | 'callers-json' | 'totals-json';

export interface Exported {
  readonly project: Project;
  readonly view: View;
  readonly numbers: Numbers;
}

export function exportNumbers(kind: ExportKind, exported: Exported): void {
  const [what, text] = contentOf(kind, exported);
  const end = kind.endsWith('csv') ? 'csv' : 'json';
  const type = end === 'csv' ? 'text/csv' : 'application/json';
  saveFile(`${exportName(exported, what)}.${end}`, new Blob([text], { type }));
}

/** The name of a file without its ending: project, caller, dates and what is in it. */
export function exportName({ project, view, numbers: { range } }: Exported, what: string): string {
  const { dateFrom, dateTo } = range;
  const days = dateFrom === null || dateTo === null ? undefined : daysOf({ start: dateFrom, end: dateTo });
  const when = days === undefined ? choiceName(view.choice).toLowerCase() : `${days.from}-to-${days.to}`;
  return fileName(project.id, ...(view.caller === null ? [] : [view.caller]), when, what);
}

function contentOf(kind: ExportKind, { view, numbers }: Exported): [what: string, text: string] {
  const json = (value: unknown): string => `${JSON.stringify(value, null, 2)}\n`;
  const { interval, counts, previous } = numbers;
  switch (kind) {
    case 'series-csv':
      // It is opened in a spreadsheet; programs ask the API.
      return [interval, seriesToCsv(seriesOf(view, numbers), { layout: 'wide', times: 'local' })];
    case 'series-json':
      return [interval, json(seriesOf(view, numbers))];
    case 'callers-csv':
      return ['callers', callersToCsv(callersOf(view, numbers))];
    case 'callers-json':
      return ['callers', json(callersOf(view, numbers))];
    case 'totals-json':
      return ['totals', json(isCompared(view, numbers) ? { ...counts, previous } : counts)];
  }
}

function isCompared({ compare }: View, { previous }: Numbers): boolean {
  return compare !== null && previous !== null;
}

function seriesOf(view: View, numbers: Numbers): Series {
  const compared = isCompared(view, numbers);
  const buckets = numbers.buckets.map(({ incomplete, previous, ...bucket }) =>
    compared ? { ...bucket, previous: previous ?? null } : bucket,
  );
  const { interval, previous } = numbers;
  return { interval, timeZone: view.zone, buckets, ...(compared && previous !== null ? { previous } : {}) };
}

function callersOf({ caller }: View, { callers: all }: Numbers) {
  const callers = all.filter((one) => caller === null || one.caller === caller);
  return { total: callers.reduce((sum, one) => sum + one.count, 0), callers };
}
