/** Copyable `curl` commands that request from the public API what is on screen. */
import type { Range } from '../time/range.js';

/** The environment variable with the key, so that no copied command contains a key. Recording uses another one. */
const KEY = '$ADMIN_KEY';

export interface Question {
  readonly origin: string;
  readonly projectId: string;
  /** The path below `/v1/analytics/{projectId}/assistant/`. */
  readonly operation: 'caller-stats' | 'caller-stats/series' | 'callers';
  readonly range: Range;
  /** Parameters besides the range. */
  readonly parameters?: Readonly<Record<string, string>>;
}

/** The command for exactly this range, with its bounds as UTC instants. */
export function curlCommand({ origin, projectId, operation, range, parameters = {} }: Question): string {
  const url = `${origin}/v1/analytics/${encodeURIComponent(projectId)}/assistant/${operation}`;
  const all = { ...boundParameters(range), ...parameters };
  return [
    `curl --get ${quote(url)}`,
    `--header "Authorization: Bearer ${KEY}"`,
    ...Object.entries(all).map(([name, value]) => `--data-urlencode ${quote(`${name}=${value}`)}`),
  ].join(' \\\n  ');
}

/** The bounds of a range as parameters; unbounded sides are omitted. */
export function boundParameters({ from, to }: Range): Record<string, string> {
  return {
    ...(from === null ? {} : { dateFrom: new Date(from).toISOString() }),
    ...(to === null ? {} : { dateTo: new Date(to).toISOString() }),
  };
}

/** Quotes a word for a POSIX shell. */
export function quote(text: string): string {
  return `'${text.replaceAll("'", String.raw`'\''`)}'`;
}
