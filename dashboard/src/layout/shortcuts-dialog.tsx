/** The list of keyboard shortcuts, and the switch that turns them off. */

import { Check } from '../components/forms/field.js';
import { Dialog } from '../components/overlays/dialog.js';
import { SHORTCUTS } from '../preferences/shortcuts.js';
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
