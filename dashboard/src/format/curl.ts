/** Requests to the public API as commands for a shell: what is on screen, asked for from anywhere. */
import type { Range } from '../time/range.js';

/** The variable that holds the key, so that no key is ever part of a copied command. */
const KEY = '$CALLER_STATS_KEY';

export interface Question {
  readonly origin: string;
  readonly projectId: string;
  /** Below `/v1/analytics/{projectId}/assistant/`. */
  readonly operation: 'caller-stats' | 'caller-stats/series' | 'callers';
  readonly range: Range;
  /** What the operation takes beside the range. */
  readonly parameters?: Readonly<Record<string, string>>;
}

/** The command that asks for exactly that range, with its bounds as the instants that were used. */
export function curlOf({ origin, projectId, operation, range, parameters = {} }: Question): string {
  const url = `${origin}/v1/analytics/${encodeURIComponent(projectId)}/assistant/${operation}`;
  const all = { ...boundsOf(range), ...parameters };
  return [
    `curl --get ${quote(url)}`,
    `--header "Authorization: Bearer ${KEY}"`,
    ...Object.entries(all).map(([name, value]) => `--data-urlencode ${quote(`${name}=${value}`)}`),
  ].join(' \\\n  ');
}

/** The bounds of a range as parameters; an unbounded side has none. */
export function boundsOf({ from, to }: Range): Record<string, string> {
  return {
    ...(from === null ? {} : { dateFrom: new Date(from).toISOString() }),
    ...(to === null ? {} : { dateTo: new Date(to).toISOString() }),
  };
}

/** One word for a POSIX shell, whatever is in it. */
export function quote(text: string): string {
  return `'${text.replaceAll("'", String.raw`'\''`)}'`;
}
