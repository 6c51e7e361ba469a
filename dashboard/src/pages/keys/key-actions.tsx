/** The actions menu of a key. */
import { Ban, Ellipsis, Pause, Play, RefreshCw } from 'lucide-react';
import { useKeySwitch } from '../../api/keys.js';
import type { Key } from '../../api/types.js';
import { toast } from '../../components/feedback/toasts.js';
import { IconButton } from '../../components/forms/button.js';
import { Menu } from '../../components/overlays/menu.js';

export interface KeyDialogRequest {
  readonly what: 'rotate' | 'revoke';
  readonly apiKey: Key;
}

interface KeyActionsProps {
  readonly organizationId: string;
  readonly apiKey: Key;
  /** Opens a dialog outside the table: the row may disappear while the dialog shows a secret. */
  readonly onOpenDialog: (request: KeyDialogRequest) => void;
}

export function KeyActions({ organizationId, apiKey, onOpenDialog }: KeyActionsProps) {
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
  return (
    <Menu
      label={`Actions for ${apiKey.name}`}
      items={[
        { label: 'Rotate…', icon: RefreshCw, onSelect: () => onOpenDialog({ what: 'rotate', apiKey }) },
        isOn
          ? { label: 'Disable', icon: Pause, onSelect: turn }
          : { label: 'Enable', icon: Play, onSelect: turn },
        'line',
        {
          label: 'Revoke…',
          icon: Ban,
          danger: true,
          onSelect: () => onOpenDialog({ what: 'revoke', apiKey }),
        },
      ]}
      button={(props) => <IconButton {...props} icon={Ellipsis} label={`Actions for ${apiKey.name}`} />}
    />
  );
}
