/** Copies a command that requests the numbers on screen. */
import { BookOpen, Terminal } from 'lucide-react';
import type { Project } from '../../../api/types.js';
import { copyWithToast } from '../../../components/content/copy.js';
import { Button } from '../../../components/forms/button.js';
import { Menu } from '../../../components/overlays/menu.js';
import { curlCommand } from '../../../format/curl.js';
import { docsUrl, serverUrl } from '../../../navigation/base-path.js';
import type { View } from '../../../navigation/view.js';
import type { Numbers } from '../use-numbers.js';

interface CurlMenuProps {
  readonly project: Project;
  readonly view: View;
  readonly numbers: Numbers;
}

export function CurlMenu({ project, view, numbers: { range, interval } }: CurlMenuProps) {
  const shown = { origin: serverUrl(), projectId: project.id, range };
  const caller = view.caller === null ? {} : { caller: view.caller };
  const parameters = { interval, timeZone: view.zone, ...caller };
  const item = (label: string, command: string) => ({ label, onSelect: () => void copyWithToast(command) });
  return (
    <Menu
      label="Copy as curl"
      items={[
        item('Totals', curlCommand({ ...shown, operation: 'caller-stats', parameters: caller })),
        item('Counts over time', curlCommand({ ...shown, operation: 'caller-stats/series', parameters })),
        item('Callers', curlCommand({ ...shown, operation: 'callers' })),
        'line',
        { label: 'What the operations return', icon: BookOpen, href: docsUrl('http') },
      ]}
      button={(props) => (
        <Button {...props} title="Copy as curl" kind="quiet" icon={Terminal}>
          <span className="toolbar-label">Copy as curl</span>
        </Button>
      )}
    />
  );
}
