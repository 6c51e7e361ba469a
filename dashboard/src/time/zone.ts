/** The names of time zones. The server knows their rules. */

/** Zones that were renamed, where many browsers still report the old name: searching for `Kolkata` must find it. */
const NEW_NAMES: Readonly<Record<string, string | undefined>> = {
  'Africa/Asmera': 'Africa/Asmara',
  'America/Buenos_Aires': 'America/Argentina/Buenos_Aires',
  'America/Catamarca': 'America/Argentina/Catamarca',
  'America/Cordoba': 'America/Argentina/Cordoba',
  'America/Jujuy': 'America/Argentina/Jujuy',
  'America/Mendoza': 'America/Argentina/Mendoza',
  'America/Coral_Harbour': 'America/Atikokan',
  'America/Indianapolis': 'America/Indiana/Indianapolis',
  'America/Louisville': 'America/Kentucky/Louisville',
  'America/Godthab': 'America/Nuuk',
  'Asia/Saigon': 'Asia/Ho_Chi_Minh',
  'Asia/Katmandu': 'Asia/Kathmandu',
  'Asia/Calcutta': 'Asia/Kolkata',
  'Asia/Rangoon': 'Asia/Yangon',
  'Atlantic/Faeroe': 'Atlantic/Faroe',
  'Europe/Kiev': 'Europe/Kyiv',
  'Pacific/Truk': 'Pacific/Chuuk',
  'Pacific/Enderbury': 'Pacific/Kanton',
  'Pacific/Ponape': 'Pacific/Pohnpei',
};

/** Whether a text has the form of a name, and not of an offset such as `+02:00`. */
export function isZoneName(text: string): boolean {
  return /^[A-Za-z][\w/+-]{0,63}$/.test(text);
}

/** Whether the browser knows the zone. */
function isKnown(zone: string): boolean {
  try {
    return new Intl.DateTimeFormat('en', { timeZone: zone }) !== null;
  } catch {
    return false;
  }
}

/** The current name of a zone, if the browser knows it. */
function currentName(zone: string): string {
  const name = NEW_NAMES[zone];
  return name !== undefined && isKnown(name) ? name : zone;
}

/** The zone of the user's system; UTC if it has no name. */
export function browserZone(): string {
  const { timeZone } = new Intl.DateTimeFormat().resolvedOptions();
  return isZoneName(timeZone) ? currentName(timeZone) : 'UTC';
}

/** The present offset from UTC: `UTC+2`. */
export function offsetNow(zone: string): string {
  const parts = new Intl.DateTimeFormat('en', {
    timeZone: zone,
    timeZoneName: 'shortOffset',
  }).formatToParts();
  return (parts.find(({ type }) => type === 'timeZoneName')?.value ?? '').replace('GMT', 'UTC');
}

/** All selectable zones, by name. */
export function allZones(): string[] {
  return [...new Set(['UTC', ...Intl.supportedValuesOf('timeZone').map(currentName)])].sort();
}
