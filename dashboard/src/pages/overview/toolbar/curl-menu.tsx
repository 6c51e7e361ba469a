/** Copies a command that requests the numbers on screen. */
import { BookOpen, Terminal } from 'lucide-react';
import { countsParameters, timeParameters } from '../../../api/paths.js';
import type { Project } from '../../../api/types.js';
import { copyWithToast } from '../../../components/content/copy.js';
import { Button } from '../../../components/forms/button.js';
import { Menu } from '../../../components/overlays/menu.js';
import { curlCommand, type Question } from '../../../format/curl.js';
import { docsUrl, serverUrl } from '../../../navigation/base-path.js';
import type { View } from '../../../navigation/view.js';
import type { Reading } from '../use-reading.js';

interface CurlMenuProps {
  readonly project: Project;
  readonly view: View;
  readonly reading: Reading;
}

export function CurlMenu({ project, view, reading: { numbers } }: CurlMenuProps) {
  const counts = countsParameters(view);
  const interval = numbers?.interval ?? view.interval;
  const series = interval === null ? counts : { ...counts, interval };
  const item = (label: string, operation: Question['operation'], parameters: Question['parameters']) => {
    const command = curlCommand({ origin: serverUrl(), projectId: project.id, operation, parameters });
    return { label, onSelect: () => void copyWithToast(command) };
  };
  return (
    <Menu
      label="Copy as curl"
      items={[
        item('Totals', 'caller-stats', counts),
        item('Counts over time', 'caller-stats/series', series),
        item('Callers', 'callers', timeParameters(view)),
        'line',
        { label: 'What the operations return', icon: BookOpen, href: docsUrl('reading#read-over-http') },
      ]}
      button={(props) => (
        <Button {...props} title="Copy as curl" kind="quiet" icon={Terminal}>
          <span className="toolbar-label">Copy as curl</span>
        </Button>
      )}
    />
  );
}
