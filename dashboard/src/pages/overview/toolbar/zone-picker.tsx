/** Selects the time zone. */
import { useQuery } from '@tanstack/react-query';
import { Globe } from 'lucide-react';
import { useState } from 'react';
import { zonesQuery } from '../../../api/zones.js';
import { Picker } from '../../../components/overlays/picker.js';

export function ZonePicker({ zone, onChange }: { zone: string; onChange: (zone: string) => void }) {
  const [isNeeded, setNeeded] = useState(false);
  const { data, isLoading } = useQuery({ ...zonesQuery, enabled: isNeeded });
  const names: readonly string[] = data?.names ?? [];
  // A zone with an older name is valid but not in the list.
  const zones = names.includes(zone) ? names : [zone, ...names];
  return (
    <Picker
      label="Time zone"
      options={zones.map((one) => ({ value: one, label: one.replaceAll('_', ' ') }))}
      isLoading={isLoading}
      value={zone}
      onChange={onChange}
      button={(props) => (
        <button {...props} type="button" className="toolbar-button" onClick={() => setNeeded(true)}>
          <Globe aria-hidden />
          <span className="out-of-sight">Time zone: </span>
          <span className="toolbar-zone">{zone.replaceAll('_', ' ')}</span>
        </button>
      )}
    />
  );
}
