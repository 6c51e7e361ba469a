/** Adds, renames and removes a passkey. */
import { useState } from 'react';
import { addPasskey, removePasskey, renamePasskey, startPasskey } from '../../api/people/passkeys.js';
import type { Passkey } from '../../api/types.js';
import { NameField } from '../../components/forms/field.js';
import { getText } from '../../components/forms/form.js';
import { FormDialog } from '../../components/overlays/form-dialog.js';
import { browserName } from '../../format/user-agent.js';
import { getProof, ProofFields } from './proof.js';

type DialogProps = { readonly onClose: () => void } & (
  | { readonly kind: 'add' }
  | { readonly kind: 'rename' | 'remove'; readonly passkey: Passkey }
);

export function PasskeyDialog(props: DialogProps) {
  switch (props.kind) {
    case 'add':
      return <Add {...props} />;
    case 'rename':
      return <Rename {...props} />;
    case 'remove':
      return <Remove {...props} />;
  }
}

/** First the proof, which may be another passkey: browsers ask for one passkey after each click. */
function Add({ onClose }: { onClose: () => void }) {
  const [options, setOptions] = useState<PublicKeyCredentialCreationOptionsJSON | null>(null);
  if (options !== null) return <Create options={options} onClose={onClose} />;
  return (
    <FormDialog
      title="Add passkey"
      onSend={async (data) => setOptions(await startPasskey(await getProof(data)))}
      submit="Continue"
      onClose={onClose}
    >
      <ProofFields />
    </FormDialog>
  );
}

interface CreateProps {
  readonly options: PublicKeyCredentialCreationOptionsJSON;
  readonly onClose: () => void;
}

function Create({ options, onClose }: CreateProps) {
  return (
    <FormDialog
      title="Create passkey"
      lead={
        <p>
          Your browser asks you where to keep it: in this device, your password manager, your phone or a
          security key. All your other sessions end.
        </p>
      }
      onSend={(data) => addPasskey(options, getText(data, 'name'))}
      done="The passkey is added. All other sessions are ended."
      submit="Create passkey"
      onClose={onClose}
    >
      <NameField
        defaultValue={browserName(navigator.userAgent)}
        hint="To tell it from your other passkeys."
      />
    </FormDialog>
  );
}

interface ChangeProps {
  readonly passkey: Passkey;
  readonly onClose: () => void;
}

function Rename({ passkey: { id, name }, onClose }: ChangeProps) {
  return (
    <FormDialog
      title="Rename passkey"
      onSend={(data) => renamePasskey(id, getText(data, 'name'))}
      done="The name is saved"
      submit="Save name"
      onClose={onClose}
    >
      <NameField defaultValue={name} />
    </FormDialog>
  );
}

function Remove({ passkey: { id, name }, onClose }: ChangeProps) {
  return (
    <FormDialog
      title={`Remove ${name}?`}
      lead={
        <p>
          It does not sign you in any more, and all your other sessions end. Delete it on its device, too: the
          device continues to offer it otherwise.
        </p>
      }
      onSend={async (data) => removePasskey(id, await getProof(data))}
      done="The passkey is removed. All other sessions are ended."
      submit="Remove passkey"
      kind="danger"
      onClose={onClose}
    >
      <ProofFields />
    </FormDialog>
  );
}
