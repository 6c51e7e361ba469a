/** Selects a time zone in a form. */
import { useQuery } from '@tanstack/react-query';
import type { ReactNode } from 'react';
import { zonesQuery } from '../../api/zones.js';
import { SelectField } from './field.js';

interface ZoneFieldProps {
  readonly label: string;
  readonly selected: string;
  /** More options, before the zones. */
  readonly children?: ReactNode;
}

export function ZoneField({ label, selected, children }: ZoneFieldProps) {
  const zones: readonly string[] = useQuery(zonesQuery).data?.names ?? [];
  return (
    // With another list, the field begins anew, so that the same zone stays selected.
    <SelectField key={zones.length} label={label} name="timeZone" defaultValue={selected}>
      {children}
      {selected !== '' && !zones.includes(selected) && <option>{selected}</option>}
      {zones.map((zone) => (
        <option key={zone}>{zone}</option>
      ))}
    </SelectField>
  );
}
