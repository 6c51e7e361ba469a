/** Selects a time zone in a form. */
import { type ReactNode, useState } from 'react';
import { allZones } from '../../time/zone.js';
import { SelectField } from './field.js';

interface ZoneFieldProps {
  readonly label: string;
  readonly selected: string;
  /** More options, before the zones. */
  readonly children?: ReactNode;
}

export function ZoneField({ label, selected, children }: ZoneFieldProps) {
  const [zones] = useState(allZones);
  return (
    <SelectField label={label} name="timeZone" defaultValue={selected}>
      {children}
      {selected !== '' && !zones.includes(selected) && <option>{selected}</option>}
      {zones.map((zone) => (
        <option key={zone}>{zone}</option>
      ))}
    </SelectField>
  );
}
