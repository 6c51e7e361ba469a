/** Creates a key and shows its secret once. */
import { useState } from 'react';
import { createKey, type NewKey } from '../../api/keys.js';
import { useSession } from '../../api/session.js';
import type { KeyType, KeyWithSecret } from '../../api/types.js';
import { Check, Choice, Choices, NameField, TextArea } from '../../components/forms/field.js';
import { getEntries, getText } from '../../components/forms/form.js';
import { FormDialog } from '../../components/overlays/form-dialog.js';
import type { CurrentProject } from '../../navigation/current-project.js';
import { ExpiryField, getExpiry } from './expiry-field.js';
import { NewSecret } from './new-secret.js';

interface NewKeyDialogProps {
  readonly current: CurrentProject;
  readonly onClose: () => void;
}

const TYPES: readonly {
  readonly value: KeyType;
  readonly label: string;
  readonly hint: (current: CurrentProject) => string;
}[] = [
  {
    value: 'recording',
    label: 'Recording',
    hint: ({ project }) => `For your assistant. Can only record queries, and only into ${project.name}.`,
  },
  {
    value: 'reading',
    label: 'Reading',
    hint: ({ project }) =>
      `Recommended for Grafana, spreadsheets, MCP and scripts. Can only read the counts of ${project.name}.`,
  },
  {
    value: 'admin',
    label: 'Admin',
    hint: ({ organization }) => `For all projects of ${organization.name}. Use it on servers only.`,
  },
];

export function NewKeyDialog({ current, onClose }: NewKeyDialogProps) {
  const { organization, project } = current;
  const { keys: rules } = useSession();
  const [created, setCreated] = useState<KeyWithSecret | null>(null);
  const [type, setType] = useState<KeyType>('recording');

  if (created !== null) return <NewSecret created={created} title="Your new key" onClose={onClose} />;
  return (
    <FormDialog
      title="Create a key"
      onSend={async (data) => setCreated(await createKey(organization.id, toNewKey(data, project.id)))}
      submit="Create key"
      onClose={onClose}
      wide
    >
      <NameField hint="Where the key is used, so that you recognize it later." />
      <Choices legend="Type">
        {TYPES.map(({ value, label, hint }) => (
          <Choice
            key={value}
            name="type"
            value={value}
            label={label}
            hint={hint(current)}
            checked={type === value}
            onChange={() => setType(value)}
          />
        ))}
      </Choices>
      {type === 'admin' && <Scopes />}
      <ExpiryField
        rules={rules}
        type={type}
        neverHint={
          type === 'recording'
            ? 'It records until somebody revokes it. After an expiry, its queries would be lost.'
            : 'A key without an end is only as safe as the place it is kept in. Prefer one that you renew.'
        }
      />
      <TextArea
        label="Allowed addresses"
        name="allow"
        optional
        rows={2}
        spellCheck={false}
        placeholder={'192.0.2.10\n2001:db8::/32'}
        hint="One address or network a line. From anywhere else the key is refused. Left empty, it works from everywhere."
      />
      <p className="quiet small">
        You cannot change type, scopes, expiry and addresses later; create another key instead.
      </p>
    </FormDialog>
  );
}

function Scopes() {
  const [canWrite, setWrite] = useState(false);
  return (
    <fieldset className="scopes">
      <legend className="field-label">Scopes</legend>
      <div>
        <Check label="Read" hint="Counts, series and callers." checked disabled />
        <Check
          label="Write"
          name="write"
          hint="Records queries, into any project."
          checked={canWrite}
          onChange={(event) => setWrite(event.target.checked)}
        />
      </div>
    </fieldset>
  );
}

function toNewKey(data: FormData, projectId: string): NewKey {
  const type = TYPES.find(({ value }) => value === data.get('type'))?.value ?? 'recording';
  const allow = getEntries(data, 'allow');
  return {
    name: getText(data, 'name'),
    type,
    expires: getExpiry(data),
    ...(type === 'admin' ? { scopes: data.has('write') ? ['read', 'write'] : ['read'] } : { projectId }),
    ...(allow.length === 0 ? {} : { allow }),
  };
}
