/** The names of time zones. The server knows which there are, and their rules. */

/** Whether a text has the form of a name, and not of an offset such as `+02:00`. */
export function isZoneName(text: string): boolean {
  return /^[A-Za-z][\w/+-]{0,63}$/.test(text);
}

/** The zone of the user's system; UTC if it has no name. */
export function browserZone(): string {
  const { timeZone } = new Intl.DateTimeFormat().resolvedOptions();
  return isZoneName(timeZone) ? timeZone : 'UTC';
}
