/** The list of keyboard shortcuts, and the switch that turns them off. */

import { Dialog } from '../parts/dialog.js';
import { Check } from '../parts/field.js';
import { SHORTCUTS } from '../state/shortcuts.js';
import { useShortcutsOn } from './use-shortcuts.js';

export function ShortcutsDialog({ onClose }: { onClose: () => void }) {
  const [isOn, setOn] = useShortcutsOn();
  return (
    <Dialog title="Keyboard shortcuts" onClose={onClose}>
      <dl className="shortcut-list">
        {SHORTCUTS.map(({ keys, label }) => (
          <div key={keys}>
            <dt>{label}</dt>
            <dd className="row">
              {keys.split(' ').map((key) => (
                <kbd key={key}>{key}</kbd>
              ))}
            </dd>
          </div>
        ))}
      </dl>
      <Check
        label="Use keyboard shortcuts"
        hint="Turn them off if you speak to your computer, or press keys by accident."
        checked={isOn}
        onChange={(event) => setOn(event.target.checked)}
      />
    </Dialog>
  );
}
