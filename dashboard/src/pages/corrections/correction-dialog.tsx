/** Corrects what was recorded, after it has shown what would change. */
import { useState } from 'react';
import { correctionReasonCharactersMax } from '../../../../src/domain/limits.js';
import { CALLER_FORM } from '../../../../src/domain/queries/caller.js';
import { type CorrectionFields, correct, type Measured, measureCorrection } from '../../api/corrections.js';
import type { Correction, Numbers } from '../../api/types.js';
import { DocsLink } from '../../components/content/docs-link.js';
import { toast } from '../../components/feedback/toasts.js';
import { Check, Choice, Choices, SelectField, TextField } from '../../components/forms/field.js';
import { getText } from '../../components/forms/form.js';
import { FormDialog } from '../../components/overlays/form-dialog.js';
import { rangeName } from '../../format/dates.js';
import type { CurrentProject } from '../../navigation/current-project.js';
import { addDays, type Day, isDay } from '../../time/calendar.js';
import { Effect } from './effect.js';
import { type Senders, useSenders } from './senders.js';
import { ACTION_NAMES, queriesInWords, titleOf } from './words.js';
import './corrections.css';

/** What the dialog begins with. */
export type CorrectionStart =
  | { readonly undo: Correction }
  | {
      readonly caller?: string | null;
      /** The range on screen. */
      readonly range?: Numbers['range'];
      readonly recordedBy?: string | undefined;
      /** Of the arrival. */
      readonly day?: Day;
    };

interface CorrectionDialogProps {
  readonly current: CurrentProject;
  readonly start: CorrectionStart;
  readonly onClose: () => void;
}

export function CorrectionDialog({ current, start, onClose }: CorrectionDialogProps) {
  const [measured, setMeasured] = useState<Measured | null>(null);
  const ref = { organizationId: current.organization.id, projectId: current.project.id };
  const send = async (data: FormData): Promise<void> => {
    if (measured === null) {
      setMeasured(await measureCorrection(ref, toFields(data, start)));
      return;
    }
    const { state, queries } = await correct(ref, measured);
    toast(
      state === 'done' ? `${queriesInWords(queries.total)} corrected` : 'The correction is being carried out',
    );
    onClose();
  };
  const effect = measured?.effect;
  return (
    <FormDialog
      title={'undo' in start ? `Undo “${titleOf(start.undo)}”` : 'Correct what was recorded'}
      onSend={send}
      submit={
        effect === undefined
          ? 'Show what would change'
          : `${ACTION_NAMES[effect.action]} ${queriesInWords(effect.queries.total)}`
      }
      kind={effect === undefined ? 'primary' : 'danger'}
      disabled={effect?.queries.total === 0 && effect.action !== 'undo'}
      onClose={onClose}
      wide
    >
      {/* What was shown is not what would happen any more. */}
      <div className="stack" onInput={() => setMeasured(null)}>
        {'undo' in start ? (
          <p className="quiet">Later corrections still hold.</p>
        ) : (
          <Fields current={current} start={start} />
        )}
        <TextField
          label="Reason"
          name="reason"
          required
          maxLength={correctionReasonCharactersMax}
          autoComplete="off"
          hint="For those who wonder about the numbers later. It is in the list of corrections and in the audit log."
        />
      </div>
      <div className="corrections-effect" role="status">
        {effect !== undefined && <Effect effect={effect} />}
      </div>
    </FormDialog>
  );
}

interface FieldsProps {
  readonly current: CurrentProject;
  readonly start: Exclude<CorrectionStart, { readonly undo: Correction }>;
}

function Fields({ current, start }: FieldsProps) {
  const [action, setAction] = useState<'withdraw' | 'rename'>(start.caller ? 'rename' : 'withdraw');
  const choice = (value: typeof action, hint: string) => (
    <Choice
      name="action"
      value={value}
      label={ACTION_NAMES[value]}
      hint={hint}
      checked={action === value}
      onChange={() => setAction(value)}
    />
  );
  return (
    <>
      <Choices legend="What to do">
        {choice('withdraw', 'The queries count nowhere any more. Sent again, they are duplicates.')}
        {choice('rename', 'The queries count for another caller.')}
      </Choices>
      <div className="corrections-pair">
        <CallerField
          label="Caller"
          name="caller"
          optional={action === 'withdraw'}
          defaultValue={start.caller ?? ''}
        />
        {action === 'rename' && <CallerField label="New caller" name="to" required />}
      </div>
      <Occurred range={start.range} isChecked={!start.caller} />
      <Days label="Arrived" name="recorded" day={start.day} />
      <SenderField senders={useSenders(current)} selected={start.recordedBy ?? ''} />
      <p className="quiet small">
        Only queries that fit all of this are corrected, and only those that have arrived before. Days are
        those of UTC. By id, and imported counts: <DocsLink page="corrections">with the command</DocsLink>.
      </p>
    </>
  );
}

function CallerField(
  props: Pick<Parameters<typeof TextField>[0], 'label' | 'name' | 'optional' | 'required' | 'defaultValue'>,
) {
  return (
    <TextField {...props} title={CALLER_FORM} autoComplete="off" autoCapitalize="none" spellCheck={false} />
  );
}

function Occurred({ range, isChecked }: { range: Numbers['range'] | undefined; isChecked: boolean }) {
  const { dateFrom, dateTo } = range ?? { dateFrom: null, dateTo: null };
  if (dateFrom === null || dateTo === null) return <Days label="Occurred" name="date" />;
  return (
    <Check
      label={`Only those that occurred in ${rangeName({ dateFrom, dateTo })}`}
      name="inRange"
      defaultChecked={isChecked}
    />
  );
}

function Days({ label, name, day }: { label: string; name: 'date' | 'recorded'; day?: Day | undefined }) {
  return (
    <div className="corrections-pair">
      <TextField label={`${label} from`} name={`${name}From`} type="date" optional defaultValue={day} />
      <TextField
        label={`${label} until, inclusive`}
        name={`${name}To`}
        type="date"
        optional
        defaultValue={day}
      />
    </div>
  );
}

function SenderField({ senders = new Map(), selected }: { senders: Senders | undefined; selected: string }) {
  // The list changes while the form is filled in.
  const [sender, setSender] = useState(selected);
  return (
    <SelectField
      label="Sent by"
      name="recordedBy"
      value={sender}
      onChange={(event) => setSender(event.target.value)}
    >
      <option value="">Anybody</option>
      {sender !== '' && !senders.has(sender) && <option>{sender}</option>}
      {[...senders].map(([one, name]) => (
        <option key={one} value={one}>
          {name}
        </option>
      ))}
    </SelectField>
  );
}

function toFields(data: FormData, start: CorrectionStart): CorrectionFields {
  const reason = getText(data, 'reason');
  if ('undo' in start) return { action: 'undo', reason, correction: start.undo.id };
  const { dateFrom, dateTo } = data.has('inRange') ? (start.range ?? {}) : {};
  const fields = {
    ...Object.fromEntries(
      ['caller', 'to', 'dateFrom', 'recordedFrom', 'recordedBy'].map((name) => [name, getText(data, name)]),
    ),
    ...Object.fromEntries(['dateTo', 'recordedTo'].map((name) => [name, dayAfter(getText(data, name))])),
    ...(dateFrom && dateTo ? { dateFrom, dateTo } : {}),
  };
  return {
    ...Object.fromEntries(Object.entries(fields).filter(([, value]) => value !== '')),
    action: data.get('action') === 'rename' ? 'rename' : 'withdraw',
    reason,
  };
}

/** The server leaves the end out. */
function dayAfter(day: string): string {
  return isDay(day) ? addDays(day, 1) : day;
}
