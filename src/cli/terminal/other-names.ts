/** What other programs call what is here an option or a command, and what no spelling is close to. */
export const OURS: Readonly<Record<string, string>> = {
  '--config': '--settings',
  '--env-file': '--settings',
  '--db': '--database',
  '--database-url': '--database',
  '--listen': '--host',
  '--bind': '--host',
  '--tz': '--time-zone',
  '--timezone': '--time-zone',
  '--since': '--from',
  '--start': '--from',
  '--until': '--to',
  '--end': '--to',
  '--group-by': '--by',
  '--granularity': '--interval',
  '--format': '--csv',
  '--csv': '--format csv',
  start: 'serve',
  run: 'serve',
  version: '--version',
  user: 'member',
  users: 'member',
  invite: 'member invite',
  token: 'key',
  tokens: 'key',
  dump: 'backup',
  upgrade: 'migrate',
  check: 'doctor',
  vacuum: 'compact',
};

/** Commander's message about an unknown option or command, with ours of that meaning. */
export function nameOurs(message: string): string {
  const [line = '', name = ''] = /^error: unknown (?:option|command) '([^'=]+).*\n/.exec(message) ?? [];
  const ours = Object.hasOwn(OURS, name) ? OURS[name] : undefined;
  return ours === undefined
    ? message
    : `${line}(Did you mean ${ours}?)\n${message.slice(line.length).replace(/^\(Did you mean .*\n/, '')}`;
}
