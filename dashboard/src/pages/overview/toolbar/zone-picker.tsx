/** Selects the time zone. */
import { Globe } from 'lucide-react';
import { useCallback } from 'react';
import { Picker } from '../../../components/overlays/picker.js';
import type { Option } from '../../../components/overlays/picker-filter.js';
import { allZones, offsetNow } from '../../../time/zone.js';

/** All zones with their current UTC offset. Formatting all of them takes long, so it is done when the list opens. */
function listZones(selected: string): readonly Option[] {
  const zones = allZones();
  // A zone with an older name is valid but not in the list.
  return (zones.includes(selected) ? zones : [selected, ...zones]).map((zone) => ({
    value: zone,
    label: zone.replaceAll('_', ' '),
    note: offsetNow(zone),
  }));
}

export function ZonePicker({ zone, onChange }: { zone: string; onChange: (zone: string) => void }) {
  const options = useCallback(() => listZones(zone), [zone]);
  return (
    <Picker
      label="Time zone"
      options={options}
      value={zone}
      onChange={onChange}
      button={(props) => (
        <button {...props} type="button" className="toolbar-button">
          <Globe aria-hidden />
          <span className="out-of-sight">Time zone: </span>
          <span className="toolbar-zone">{zone.replaceAll('_', ' ')}</span>
        </button>
      )}
    />
  );
}
