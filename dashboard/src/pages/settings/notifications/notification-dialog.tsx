/** Adds or changes a notification, and shows the secret of a new webhook once. */
import { Fragment, type ReactNode, useState } from 'react';
import {
  silenceHoursMax,
  spikeFactorMax,
  spikeFactorMin,
  spikeMinimumMax,
} from '../../../../../src/domain/limits.js';
import { CHANNEL_FORMS, CHANNELS, type Channel } from '../../../../../src/domain/notifications/channel.js';
import { NOTIFICATION_KINDS } from '../../../../../src/domain/notifications/notification.js';
import type { ProjectRef } from '../../../api/paths.js';
import type { Project } from '../../../api/types.js';
import { DocsLink } from '../../../components/content/docs-link.js';
import { toast } from '../../../components/feedback/toasts.js';
import { SelectField, TextField } from '../../../components/forms/field.js';
import { getText } from '../../../components/forms/form.js';
import { ZoneField } from '../../../components/forms/zone-field.js';
import { FormDialog } from '../../../components/overlays/form-dialog.js';
import { OnceDialog } from '../../../components/overlays/once-dialog.js';
import { browserZone } from '../../../time/zone.js';
import { type Notification, type NotificationFields, saveNotification } from './api.js';

interface NotificationDialogProps {
  readonly project: Project;
  readonly counts: ProjectRef;
  /** The notification to change; undefined to add one. */
  readonly before: Notification | undefined;
  readonly sendsEmail: boolean;
  readonly onClose: () => void;
}

type Kind = Notification['kind'];

export function NotificationDialog({
  project,
  counts,
  before,
  sendsEmail,
  onClose,
}: NotificationDialogProps) {
  const [kind, setKind] = useState<Kind>(before?.kind ?? 'digest');
  const [channel, setChannel] = useState<Channel>(before?.channel ?? 'webhook');
  const [secret, setSecret] = useState<string | null>(null);
  if (secret !== null)
    return (
      <OnceDialog
        title="Secret of the webhook"
        warning="This is the only time the secret is shown."
        text={secret}
        copy="Copy secret"
        onClose={onClose}
      >
        <p className="quiet small">
          Your receiver verifies each message with it:{' '}
          <DocsLink page="alerts#webhooks">how to verify</DocsLink>.
        </p>
      </OnceDialog>
    );
  const title = before === undefined ? 'Add a notification' : 'Change the notification';
  const save = async (data: FormData): Promise<void> => {
    const saved = await saveNotification(counts, before?.id, toFields(data, kind, channel));
    toast('The notification is saved');
    if (saved.secret === null) onClose();
    else setSecret(saved.secret);
  };
  return (
    <FormDialog
      title={title}
      onSend={save}
      submit={before === undefined ? 'Add notification' : 'Save notification'}
      onClose={onClose}
      wide
    >
      <SelectField
        label="Message"
        name="kind"
        value={kind}
        onChange={(event) => setKind(event.target.value as Kind)}
      >
        {NOTIFICATION_KINDS.map((one) => (
          <option key={one} value={one}>
            {KINDS[one].title}
          </option>
        ))}
      </SelectField>
      {KINDS[kind].fields(before)}
      <ZoneField label="Time zone" selected={before?.timeZone ?? project.timeZone ?? browserZone()} />
      <SelectField
        label="Send by"
        name="channel"
        value={channel}
        onChange={(event) => setChannel(event.target.value as Channel)}
      >
        {CHANNELS.map((one) => {
          const isMissing = CHANNEL_FORMS[one].form === 'mail' && !sendsEmail;
          return (
            <option key={one} value={one} disabled={isMissing && one !== channel}>
              {CHANNEL_FORMS[one].title}
              {isMissing && ' (the server needs CALLER_STATS_SMTP_URL)'}
            </option>
          );
        })}
      </SelectField>
      <DestinationField key={channel} channel={channel} before={before} />
    </FormDialog>
  );
}

const NUMBER = { type: 'number', inputMode: 'numeric', step: 1, required: true } as const;

/** The choices of the message, and the fields of each. */
const KINDS: Readonly<
  Record<Kind, { readonly title: string; readonly fields: (before: Notification | undefined) => ReactNode }>
> = {
  digest: {
    title: 'Digest: a summary of each week or month',
    fields: (before) => (
      <SelectField key="period" label="Of each" name="period" defaultValue={before?.period ?? 'week'}>
        <option value="week">Week</option>
        <option value="month">Month</option>
      </SelectField>
    ),
  },
  silence: {
    title: 'Alert: nothing recorded',
    fields: (before) => (
      <TextField
        {...NUMBER}
        key="hours"
        label="Hours without a query"
        name="hours"
        min={1}
        max={silenceHoursMax}
        defaultValue={before?.hours ?? 24}
        hint="One message when they are over, and one when queries arrive again."
      />
    ),
  },
  spike: {
    title: 'Alert: more queries than usual',
    fields: (before) => (
      <Fragment key="spike">
        <Factor label="Times the usual" before={before} usual={3} />
        <Minimum
          label="Minimum of an hour"
          before={before}
          usual={100}
          hint="Hours with fewer queries are never reported."
        />
      </Fragment>
    ),
  },
  drop: {
    title: 'Alert: fewer queries than usual',
    fields: (before) => (
      <Fragment key="drop">
        <Factor label="The usual, divided by" before={before} usual={4} />
        <Minimum
          label="Minimum of the usual"
          before={before}
          usual={20}
          hint="Hours that usually have fewer queries, such as those of a night, are never reported."
        />
      </Fragment>
    ),
  },
  threshold: {
    title: 'Alert: as many queries in an hour as you say',
    fields: (before) => (
      <Minimum
        key="threshold"
        label="Queries in an hour"
        before={before}
        usual={1000}
        hint="One message, until an hour has fewer."
      />
    ),
  },
  new_caller: { title: 'Alert: a caller for the first time', fields: () => null },
};

interface NumberProps {
  readonly label: string;
  readonly before: Notification | undefined;
  readonly usual: number;
}

function Factor({ label, before, usual }: NumberProps) {
  return (
    <TextField
      {...NUMBER}
      label={label}
      name="factor"
      min={spikeFactorMin}
      max={spikeFactorMax}
      defaultValue={before?.factor ?? usual}
      hint="The usual is the median of the same hour of the week in the last four weeks."
    />
  );
}

function Minimum({ label, before, usual, hint }: NumberProps & { readonly hint: string }) {
  return (
    <TextField
      {...NUMBER}
      label={label}
      name="minimum"
      min={1}
      max={spikeMinimumMax}
      defaultValue={before?.minimum ?? usual}
      hint={hint}
    />
  );
}

function DestinationField({
  channel,
  before,
}: {
  readonly channel: Channel;
  readonly before: Notification | undefined;
}) {
  const { hint, ...field } = CHANNEL_FORMS[channel].field;
  const kept = before?.channel === channel ? before.destination : undefined;
  return (
    <TextField
      {...field}
      name="destination"
      autoComplete="off"
      autoCapitalize="none"
      spellCheck={false}
      required={kept === undefined}
      hint={kept === undefined ? hint : `Leave it empty to keep ${kept}.`}
    />
  );
}

function toFields(data: FormData, kind: Kind, channel: Channel): NotificationFields {
  const number = (name: string): number => Number(getText(data, name));
  const destination = getText(data, 'destination');
  const ofKinds: Readonly<Record<Kind, () => Partial<NotificationFields>>> = {
    digest: () => ({ period: getText(data, 'period') as Notification['period'] }),
    silence: () => ({ hours: number('hours') }),
    spike: () => ({ factor: number('factor'), minimum: number('minimum') }),
    drop: () => ({ factor: number('factor'), minimum: number('minimum') }),
    threshold: () => ({ minimum: number('minimum') }),
    new_caller: () => ({}),
  };
  return {
    kind,
    timeZone: getText(data, 'timeZone') as Notification['timeZone'],
    channel,
    ...ofKinds[kind](),
    ...(destination !== '' && { destination }),
  };
}
