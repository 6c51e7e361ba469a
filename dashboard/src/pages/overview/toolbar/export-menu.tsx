/** Downloads exactly what is on screen, without another request. */
import { Download } from 'lucide-react';
import type { Project } from '../../../api/types.js';
import { toast } from '../../../components/feedback/toasts.js';
import { Button } from '../../../components/forms/button.js';
import { Menu } from '../../../components/overlays/menu.js';
import type { View } from '../../../navigation/view.js';
import type { Reading } from '../use-reading.js';
import type { ExportKind } from './export.js';
import type { ChartFormat } from './export-chart.js';

interface ExportMenuProps {
  readonly project: Project;
  readonly view: View;
  readonly reading: Reading;
}

const FORMATS: readonly (readonly [label: string, format: ChartFormat])[] = [
  ['Chart, as PNG', 'png'],
  ['Chart, as SVG', 'svg'],
];

const KINDS: readonly (readonly [label: string, kind: ExportKind])[] = [
  ['Counts over time, as CSV', 'series-csv'],
  ['Counts over time, as JSON', 'series-json'],
  ['Callers, as CSV', 'callers-csv'],
  ['Callers, as JSON', 'callers-json'],
  ['Totals, as JSON', 'totals-json'],
];

export function ExportMenu({ project, view, reading: { numbers, isStale } }: ExportMenuProps) {
  // The code is loaded when it is first needed.
  const save = (kind: ExportKind) =>
    attempt(async () => {
      const { exportNumbers } = await import('./export.js');
      if (numbers !== undefined) exportNumbers(kind, { project, view, numbers });
    });
  const saveChart = (format: ChartFormat) =>
    attempt(async () => {
      const { exportChart } = await import('./export-chart.js');
      if (numbers !== undefined) await exportChart(format, { project, view, numbers });
    });
  return (
    <Menu
      label="Download"
      items={[
        ...FORMATS.map(([label, format]) => ({ label, onSelect: () => void saveChart(format) })),
        'line' as const,
        ...KINDS.map(([label, kind]) => ({ label, onSelect: () => void save(kind) })),
      ]}
      button={(props) => (
        <Button
          {...props}
          title="Download"
          kind="quiet"
          icon={Download}
          disabled={numbers === undefined || isStale}
        >
          <span className="toolbar-label">Download</span>
        </Button>
      )}
    />
  );
}

async function attempt(work: () => Promise<void>): Promise<void> {
  try {
    await work();
  } catch {
    toast('The download could not be made. Try again in a moment.', 'danger');
  }
}
