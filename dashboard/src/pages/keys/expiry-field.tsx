/** The expiry of a key. */
import { useState } from 'react';
import { keyLifeDaysMax } from '../../../../src/domain/limits.js';
import { dayMs } from '../../../../src/domain/time/duration.js';
import type { KeyRules, KeyType } from '../../api/types.js';
import { SelectField, TextField } from '../../components/forms/field.js';
import { getText } from '../../components/forms/form.js';
import { day } from '../../format/dates.js';
import { addDays, dayOf } from '../../time/calendar.js';
import { now } from '../../time/clock.js';

interface ExpiryFieldProps {
  readonly rules: KeyRules;
  /** For which type the default counts. */
  readonly type: KeyType;
  /** A warning for `never`. */
  readonly neverHint: string;
}

export function ExpiryField({ rules, type, neverHint }: ExpiryFieldProps) {
  const [chosen, setChosen] = useState<string | null>(null);
  const choice = chosen ?? rules.expiryDefaults[type];
  const today = dayOf(now());
  const ends = (after: number): string => day(now() + after * dayMs);
  return (
    <>
      <SelectField
        label="Expires"
        name="expires"
        value={choice}
        onChange={(event) => setChosen(event.target.value)}
        hint={choice === 'never' ? neverHint : undefined}
      >
        {rules.expiryDays.map((one) => (
          <option key={one} value={`${one}d`}>
            In {one} days, on {ends(one)}
          </option>
        ))}
        <option value="date">On a date…</option>
        {rules.lifeDaysMax === null && <option value="never">Never</option>}
      </SelectField>
      {choice === 'date' && (
        <TextField
          label="Expires on"
          name="expiresOn"
          type="date"
          min={addDays(today, 1)}
          max={addDays(today, rules.lifeDaysMax ?? keyLifeDaysMax)}
          required
          hint="It works until that day begins, in UTC."
        />
      )}
    </>
  );
}

/** The selected expiry in the format of the API. */
export function getExpiry(data: FormData): string {
  const choice = getText(data, 'expires');
  return choice === 'date' ? getText(data, 'expiresOn') : choice;
}
