/** Downloads exactly the numbers on screen, without another request. */
import { Download } from 'lucide-react';
import type { Project } from '../../../api/types.js';
import { toast } from '../../../components/feedback/toasts.js';
import { Button } from '../../../components/forms/button.js';
import { Menu } from '../../../components/overlays/menu.js';
import type { View } from '../../../navigation/view.js';
import type { Numbers } from '../use-numbers.js';
import type { ExportKind } from './export.js';

interface ExportMenuProps {
  readonly project: Project;
  readonly view: View;
  readonly numbers: Numbers;
}

const KINDS: readonly (readonly [label: string, kind: ExportKind])[] = [
  ['Counts over time, as CSV', 'series-csv'],
  ['Counts over time, as JSON', 'series-json'],
  ['Callers, as CSV', 'callers-csv'],
  ['Callers, as JSON', 'callers-json'],
  ['Totals, as JSON', 'totals-json'],
];

export function ExportMenu({ project, view, numbers }: ExportMenuProps) {
  const { reading } = numbers;
  const save = async (kind: ExportKind): Promise<void> => {
    if (reading === undefined) return;
    try {
      // Its code is loaded when it is first needed.
      const { exportNumbers } = await import('./export.js');
      exportNumbers(kind, { project, view, range: numbers.range, reading });
    } catch {
      toast('The download could not be made. Try again in a moment.', 'danger');
    }
  };
  return (
    <Menu
      label="Download"
      items={KINDS.map(([label, kind]) => ({ label, onSelect: () => void save(kind) }))}
      button={(props) => (
        <Button {...props} kind="quiet" icon={Download} disabled={reading === undefined || numbers.isStale}>
          <span className="toolbar-label">Download</span>
        </Button>
      )}
    />
  );
}
