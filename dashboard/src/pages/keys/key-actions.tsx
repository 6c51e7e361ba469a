/** What can be done with a key. */
import { Ban, Ellipsis, Pause, Play, RefreshCw } from 'lucide-react';
import { lazy, Suspense, useState } from 'react';
import { useKeySwitch } from '../../api/keys.js';
import type { Key } from '../../api/types.js';
import { IconButton } from '../../parts/button.js';
import { Menu } from '../../parts/menu.js';
import { toast } from '../../parts/toasts.js';

const RotateDialog = lazy(() =>
  import('./rotate-dialog.js').then((module) => ({ default: module.RotateDialog })),
);
const RevokeDialog = lazy(() =>
  import('./revoke-dialog.js').then((module) => ({ default: module.RevokeDialog })),
);

export function KeyActions({ organizationId, apiKey }: { organizationId: string; apiKey: Key }) {
  const [open, setOpen] = useState<'rotate' | 'revoke' | null>(null);
  const { mutate } = useKeySwitch(organizationId);
  const isOn = apiKey.status === 'active';
  const turn = (): void =>
    mutate(
      { key: apiKey, on: !isOn },
      {
        onSuccess: () => toast(isOn ? `${apiKey.name} is disabled` : `${apiKey.name} is enabled`),
        onError: (error) => toast(error.message, 'danger'),
      },
    );
  const close = (): void => setOpen(null);
  const dialog = { organizationId, apiKey, onClose: close };
  return (
    <>
      <Menu
        label={`Actions for ${apiKey.name}`}
        items={[
          { label: 'Rotate…', icon: RefreshCw, onSelect: () => setOpen('rotate') },
          isOn
            ? { label: 'Disable', icon: Pause, onSelect: turn }
            : { label: 'Enable', icon: Play, onSelect: turn },
          'line',
          { label: 'Revoke…', icon: Ban, danger: true, onSelect: () => setOpen('revoke') },
        ]}
        button={(props) => <IconButton {...props} icon={Ellipsis} label={`Actions for ${apiKey.name}`} />}
      />
      <Suspense>
        {open === 'rotate' && <RotateDialog {...dialog} />}
        {open === 'revoke' && <RevokeDialog {...dialog} />}
      </Suspense>
    </>
  );
}
