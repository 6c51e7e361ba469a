/** Adds, renames and removes a passkey. */
import { nameCharactersMax } from '../../../../src/domain/limits.js';
import { addPasskey, removePasskey, renamePasskey } from '../../api/people/passkeys.js';
import type { Passkey } from '../../api/types.js';
import { toast } from '../../components/feedback/toasts.js';
import { TextField } from '../../components/forms/field.js';
import { Form, getText } from '../../components/forms/form.js';
import { Dialog } from '../../components/overlays/dialog.js';
import { browserName } from '../../format/user-agent.js';
import { getProof, ProofField, wrongPassword } from './proof.js';

type DialogProps = { readonly onClose: () => void } & (
  | { readonly kind: 'add' }
  | { readonly kind: 'rename' | 'remove'; readonly passkey: Passkey }
);

export function PasskeyDialog(props: DialogProps) {
  if (props.kind === 'add') return <Add {...props} />;
  return props.kind === 'rename' ? <Rename {...props} /> : <Remove {...props} />;
}

function Add({ onClose }: { onClose: () => void }) {
  return (
    <Dialog title="Add passkey" onClose={onClose}>
      <p className="quiet">
        Your browser asks you where to keep it: in this device, your password manager, your phone or a
        security key. All your other sessions end.
      </p>
      <Form
        label="Add passkey"
        messages={wrongPassword}
        onSend={async (data) => {
          await addPasskey(getText(data, 'name'), getProof(data));
          onClose();
          toast('The passkey is added. All other sessions are ended.');
        }}
        submit="Continue"
        kind="primary"
        onCancel={onClose}
      >
        <TextField
          label="Name"
          name="name"
          hint="To tell it from your other passkeys."
          defaultValue={browserName(navigator.userAgent)}
          autoComplete="off"
          maxLength={nameCharactersMax}
          required
        />
        <ProofField />
      </Form>
    </Dialog>
  );
}

interface ChangeProps {
  readonly passkey: Passkey;
  readonly onClose: () => void;
}

function Rename({ passkey: { id, name }, onClose }: ChangeProps) {
  return (
    <Dialog title="Rename passkey" onClose={onClose}>
      <Form
        label="Rename passkey"
        onSend={async (data) => {
          await renamePasskey(id, getText(data, 'name'));
          onClose();
          toast('The name is saved');
        }}
        submit="Save name"
        kind="primary"
        onCancel={onClose}
      >
        <TextField
          label="Name"
          name="name"
          defaultValue={name}
          autoComplete="off"
          maxLength={nameCharactersMax}
          required
        />
      </Form>
    </Dialog>
  );
}

function Remove({ passkey: { id, name }, onClose }: ChangeProps) {
  return (
    <Dialog title={`Remove ${name}?`} onClose={onClose}>
      <p className="quiet">
        It does not sign you in any more, and all your other sessions end. Delete it on its device, too: the
        device continues to offer it otherwise.
      </p>
      <Form
        label={`Remove ${name}`}
        messages={wrongPassword}
        onSend={async (data) => {
          await removePasskey(id, getProof(data));
          onClose();
          toast('The passkey is removed. All other sessions are ended.');
        }}
        submit="Remove passkey"
        kind="danger"
        onCancel={onClose}
      >
        <ProofField />
      </Form>
    </Dialog>
  );
}
