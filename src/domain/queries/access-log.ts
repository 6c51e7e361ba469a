/**
 * Lines of nginx and Apache access logs: the common and the combined format, each optionally with a virtual host in front
 * (Apache's `vhost_combined`) or with further fields at the end.
 */
import { failure, quote, type Result, success } from '../result.js';

export interface LoggedRequest {
  /** In RFC 3339; it may still be an impossible date such as February 30. */
  readonly occurredAt: string;
  /** Undefined if the client did not send an HTTP request, for example TLS to a plain port. */
  readonly method: string | undefined;
  /** The path without its query, not decoded; empty if there is none. */
  readonly path: string;
  readonly status: number;
  /** Empty if the request or the format has none, like `userAgent`. */
  readonly referer: string;
  readonly userAgent: string;
}

const quoted = '"((?:[^"\\\\]|\\\\.)*)"';

/** Matches in linear time, because no two adjacent parts can match the same text. */
const line = new RegExp(
  String.raw`^\S+ \S+ [^"[\]]*\[(\d\d)/([A-Z][a-z]{2})/(\d{4}):(\d\d:\d\d:\d\d) ([+-]\d\d)(\d\d)\] ` +
    `${quoted} (\\d{3}) (?:\\d+|-)(?: ${quoted} ${quoted}(?: .*)?| [^"].*)?$`,
);

const months = 'Jan Feb Mar Apr May Jun Jul Aug Sep Oct Nov Dec'.split(' ');

const shape = 'host - - [31/Jan/2026:23:59:59 +0000] "POST /path HTTP/1.1" 200 512 "referer" "user agent"';

export function parseLogLine(text: string): Result<LoggedRequest> {
  const match = line.exec(text);
  if (match === null) return failure(`is not a line of an access log: ${quote(text)}; expected ${shape}`);
  const [, day, monthName = '', year, time, hours, minutes, ...fields] = match;
  const [request = '', status, referer = '', userAgent = ''] = fields;
  const month = months.indexOf(monthName) + 1;
  if (month === 0) return failure(`${quote(monthName)} is not the name of a month, as in 31/Jan/2026`);
  const [, method, target = ''] = /^([A-Z]+) (\S+)(?: HTTP\/[\d.]+)?$/.exec(unescapeLogged(request)) ?? [];
  return success({
    occurredAt: `${year}-${String(month).padStart(2, '0')}-${day}T${time}${hours}:${minutes}`,
    method,
    path: /^(?:[a-z]+:\/\/[^/?#]*)?([^?#]*)/i.exec(target)?.[1] ?? '',
    status: Number(status),
    referer: readHeader(referer),
    userAgent: readHeader(userAgent),
  });
}

function readHeader(logged: string): string {
  return logged === '-' ? '' : unescapeLogged(logged);
}

/** Both servers write unprintable bytes as `\xHH`. nginx writes quotes that way, too; Apache writes a backslash before them. */
function unescapeLogged(logged: string): string {
  return logged.replace(/\\(?:x([0-9A-Fa-f]{2})|(.))/g, (_all, code: string | undefined, sign: string) =>
    code === undefined ? sign : String.fromCharCode(Number.parseInt(code, 16)),
  );
}
