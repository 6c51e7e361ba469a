/** Selects the time zone. */
import { Globe } from 'lucide-react';
import { useMemo } from 'react';
import { Picker } from '../../../components/overlays/picker.js';
import { offsetName } from '../../../format/dates.js';
import { now } from '../../../time/clock.js';
import { allZones } from '../../../time/zone.js';

/** All zones with their current UTC offset. */
function useZoneOptions() {
  return useMemo(() => {
    const at = now();
    return allZones().map((zone) => ({
      value: zone,
      label: zone.replaceAll('_', ' '),
      note: offsetName(at, zone).replace('GMT', 'UTC'),
    }));
  }, []);
}

export function ZonePicker({ zone, onChange }: { zone: string; onChange: (zone: string) => void }) {
  const options = useZoneOptions();
  // A zone with an older name is valid but not in the list.
  const all = options.some(({ value }) => value === zone)
    ? options
    : [{ value: zone, label: zone.replaceAll('_', ' ') }, ...options];
  return (
    <Picker
      label="Time zone"
      options={all}
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
