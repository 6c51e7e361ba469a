/** Creates a share link and shows its address once. */
import { useState } from 'react';
import type { ProjectRef } from '../../../api/paths.js';
import { useSession } from '../../../api/session.js';
import { createShareLink, type NewShareLink } from '../../../api/share-links.js';
import type { CreatedShareLink, Project } from '../../../api/types.js';
import { Copied } from '../../../components/content/copy-button.js';
import { DocsLink } from '../../../components/content/docs-link.js';
import { Check, NameField, SelectField, TextArea } from '../../../components/forms/field.js';
import { getEntries, getPassword, getText } from '../../../components/forms/form.js';
import { NewPassword } from '../../../components/forms/passwords.js';
import { FormDialog } from '../../../components/overlays/form-dialog.js';
import { OnceDialog } from '../../../components/overlays/once-dialog.js';
import { serverUrl } from '../../../navigation/base-path.js';
import { ExpiryField, getExpiry } from '../../keys/expiry-field.js';

interface NewShareLinkDialogProps {
  readonly project: Project;
  readonly counts: ProjectRef;
  readonly onClose: () => void;
}

export function NewShareLinkDialog({ project, counts, onClose }: NewShareLinkDialogProps) {
  const { keys: rules, shareLinks: rule } = useSession();
  const [created, setCreated] = useState<CreatedShareLink | null>(null);
  const [hasPassword, setPassword] = useState(rule === 'password');
  if (created !== null) return <AddressDialog created={created} project={project} onClose={onClose} />;
  return (
    <FormDialog
      title="Create a share link"
      onSend={async (data) => setCreated(await createShareLink(counts, toNewLink(data)))}
      submit="Create link"
      onClose={onClose}
      wide
    >
      <NameField hint="Who gets the link, so that you recognize it later. Only members see it." />
      <ExpiryField
        rules={rules}
        type="reading"
        neverHint="Without an expiry, the link works until somebody revokes it."
      />
      <Check
        label="Require a password"
        hint="A link with a password serves no CSV for spreadsheets."
        checked={hasPassword}
        disabled={rule === 'password'}
        onChange={(event) => setPassword(event.target.checked)}
      />
      {hasPassword && <NewPassword />}
      <TextArea
        label="Origins that may embed it"
        name="origins"
        optional
        rows={2}
        spellCheck={false}
        placeholder="https://docs.example.com"
        hint="One origin a line. Left empty, no page can embed the link."
      />
      <p className="quiet small">You cannot change a link later; create another one instead.</p>
    </FormDialog>
  );
}

interface AddressDialogProps {
  readonly created: CreatedShareLink;
  readonly project: Project;
  readonly onClose: () => void;
}

function AddressDialog({ created: { link, token }, project, onClose }: AddressDialogProps) {
  const address = `${serverUrl()}/share/${token}`;
  return (
    <OnceDialog
      title="Share link created"
      warning="This is the only time the link is shown."
      text={address}
      copy="Copy link"
      onClose={onClose}
    >
      {!link.hasPassword && (
        <>
          <p className="quiet small">
            As CSV, for <DocsLink page="reading#spreadsheets">spreadsheets</DocsLink>:
          </p>
          <Copied
            text={`${address}.csv?period=last-12-months&interval=month&times=local`}
            label="Copy address of CSV"
          />
        </>
      )}
      {link.origins.length > 0 && <Embed address={address} name={project.name} />}
    </OnceDialog>
  );
}

/** What can be embedded: with the height that shows it on a desktop without scrolling. */
const EMBEDS = [
  { label: 'All of it', show: undefined, height: 1200 },
  { label: 'Only the chart', show: 'chart', height: 560 },
  { label: 'Only the numbers', show: 'numbers', height: 300 },
] as const;

const THEMES = [
  { label: "As the reader's system", theme: undefined },
  { label: 'Light', theme: 'light' },
  { label: 'Dark', theme: 'dark' },
] as const;

/** A choice of one of a few, by its place among them. */
function Choice({ options, ...props }: ChoiceProps) {
  return (
    <SelectField {...props} onChange={(event) => props.onChange(Number(event.target.value))}>
      {options.map(({ label }, index) => (
        <option key={label} value={index}>
          {label}
        </option>
      ))}
    </SelectField>
  );
}

interface ChoiceProps {
  readonly label: string;
  readonly name: string;
  readonly options: readonly { readonly label: string }[];
  readonly value: number;
  readonly onChange: (at: number) => void;
}

function Embed({ address, name }: { readonly address: string; readonly name: string }) {
  const [at, setAt] = useState(0);
  const [themeAt, setThemeAt] = useState(0);
  const { show, height } = EMBEDS[at] ?? EMBEDS[0];
  const { theme } = THEMES[themeAt] ?? THEMES[0];
  const query = new URLSearchParams({ ...(show && { show }), ...(theme && { theme }) }).toString();
  const source = `${address}${query && `?${query.replaceAll('&', '&amp;')}`}`;
  const title = `Queries of ${name}`.replaceAll('&', '&amp;').replaceAll('"', '&quot;');
  const code = `<iframe src="${source}" title="${title}" width="100%" height="${height}"></iframe>`;
  return (
    <>
      <Choice label="Embed" name="embed" options={EMBEDS} value={at} onChange={setAt} />
      <Choice label="Theme" name="theme" options={THEMES} value={themeAt} onChange={setThemeAt} />
      <Copied text={code} label="Copy embed code" />
    </>
  );
}

function toNewLink(data: FormData): NewShareLink {
  const password = getPassword(data, 'password');
  return {
    name: getText(data, 'name'),
    expires: getExpiry(data),
    origins: getEntries(data, 'origins'),
    ...(password === '' ? {} : { password }),
  };
}
