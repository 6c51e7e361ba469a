/** Copyable `curl` commands that request from the public API what is on screen. */

/** The environment variable with the key, so that no copied command contains a key. Recording uses another one. */
const KEY = '$ADMIN_KEY';

export interface Question {
  readonly origin: string;
  readonly projectId: string;
  /** The path below `/v1/analytics/{projectId}/assistant/`. */
  readonly operation: 'caller-stats' | 'caller-stats/series' | 'callers';
  readonly parameters: Readonly<Record<string, string>>;
}

export function curlCommand({ origin, projectId, operation, parameters }: Question): string {
  const url = `${origin}/v1/analytics/${encodeURIComponent(projectId)}/assistant/${operation}`;
  return [
    `curl --get ${quote(url)}`,
    `--header "Authorization: Bearer ${KEY}"`,
    ...Object.entries(parameters).map(([name, value]) => `--data-urlencode ${quote(`${name}=${value}`)}`),
  ].join(' \\\n  ');
}

/** Quotes a word for a POSIX shell. */
export function quote(text: string): string {
  return `'${text.replaceAll("'", String.raw`'\''`)}'`;
}
