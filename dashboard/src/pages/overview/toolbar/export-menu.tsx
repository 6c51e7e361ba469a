/** Downloads exactly the numbers on screen, without another request. */
import { Download } from 'lucide-react';
import { callersToCsv, seriesToCsv } from '../../../../../src/domain/counting/csv.js';
import type { Callers, Project } from '../../../api/types.js';
import { Button } from '../../../components/forms/button.js';
import { Menu } from '../../../components/overlays/menu.js';
import { fileName } from '../../../format/files.js';
import type { View } from '../../../navigation/view.js';
import { toLocal } from '../../../time/zone.js';
import type { Numbers } from '../use-numbers.js';
import { choiceName } from './choice-name.js';

interface ExportMenuProps {
  readonly project: Project;
  readonly view: View;
  readonly numbers: Numbers;
}

export function ExportMenu({ project, view, numbers }: ExportMenuProps) {
  const { reading, range } = numbers;
  const name = (what: string, end: string): string =>
    `${fileName(project.id, ...(view.caller === null ? [] : [view.caller]), when(view, range), what)}.${end}`;
  const callers = reading && onlyCaller(reading.callers, view.caller);
  const json = (value: unknown): string => `${JSON.stringify(value, null, 2)}\n`;
  const items =
    reading === undefined || callers === undefined
      ? []
      : ([
          {
            label: 'Counts over time, as CSV',
            onSelect: () =>
              save(name(reading.series.interval, 'csv'), 'text/csv', seriesToCsv(reading.series)),
          },
          {
            label: 'Counts over time, as JSON',
            onSelect: () =>
              save(name(reading.series.interval, 'json'), 'application/json', json(reading.series)),
          },
          {
            label: 'Callers, as CSV',
            onSelect: () => save(name('callers', 'csv'), 'text/csv', callersToCsv(callers)),
          },
          {
            label: 'Callers, as JSON',
            onSelect: () => save(name('callers', 'json'), 'application/json', json(callers)),
          },
          {
            label: 'Totals, as JSON',
            onSelect: () => save(name('totals', 'json'), 'application/json', json(reading.counts)),
          },
        ] as const);
  return (
    <Menu
      label="Download"
      items={items}
      button={(props) => (
        <Button {...props} kind="quiet" icon={Download} disabled={reading === undefined || numbers.isStale}>
          <span className="toolbar-label">Download</span>
        </Button>
      )}
    />
  );
}

function onlyCaller(all: Callers, caller: string | null): Callers {
  if (caller === null) return all;
  const callers = all.callers.filter((one) => one.caller === caller);
  return { total: callers.reduce((sum, one) => sum + one.count, 0), callers };
}

function when(view: View, range: Numbers['range']): string {
  if (range.from === null || range.to === null) return choiceName(view.choice, view.zone).toLowerCase();
  return `${toLocal(range.from, view.zone).day}-to-${toLocal(range.to - 1, view.zone).day}`;
}

function save(name: string, type: string, text: string): void {
  const url = URL.createObjectURL(new Blob([text], { type }));
  const link = document.createElement('a');
  link.href = url;
  link.download = name;
  link.click();
  URL.revokeObjectURL(url);
}
