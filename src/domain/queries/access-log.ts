/**
 * Lines of access logs: the common and the combined format of nginx and Apache, each optionally with a virtual host in front
 * (Apache's `vhost_combined`) or with further fields at the end; Caddy's JSON; and JSON of nginx whose fields have the names
 * of its variables.
 */
import { failure, prefixProblems, quote, type Result, success } from '../result.js';
import { type LocalClock, parseTimeInFormat } from '../time/timestamp-formats.js';

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

/** Parses a line. It may be decoded as Latin-1, because only ASCII matters in it. Times without an offset are by the clock, or UTC. */
export function parseLogLine(text: string, clock?: LocalClock): Result<LoggedRequest> {
  return text.startsWith('{') ? parseJsonLine(text, clock) : parseTextLine(text);
}

function parseTextLine(text: string): Result<LoggedRequest> {
  const match = line.exec(text);
  if (match === null) return failure(`is not a line of an access log: ${quote(text)}; expected ${shape}`);
  const [, day, monthName = '', year, time, hours, minutes, ...fields] = match;
  const [request = '', status, referer = '', userAgent = ''] = fields;
  const month = months.indexOf(monthName) + 1;
  if (month === 0) return failure(`${quote(monthName)} is not the name of a month, as in 31/Jan/2026`);
  return success({
    occurredAt: `${year}-${String(month).padStart(2, '0')}-${day}T${time}${hours}:${minutes}`,
    ...parseRequestLine(unescapeLogged(request)),
    status: Number(status),
    referer: readHeader(referer),
    userAgent: readHeader(userAgent),
  });
}

/** The method is undefined if this is not the first line of an HTTP request. */
function parseRequestLine(request: string): Pick<LoggedRequest, 'method' | 'path'> {
  const [, method, target = ''] = /^([A-Z]+) (\S+)(?: HTTP\/[\d.]+)?$/.exec(request) ?? [];
  return { method, path: pathOf(target) };
}

function pathOf(target: string): string {
  return /^(?:[a-z]+:\/\/[^/?#]*)?([^?#]*)/i.exec(target)?.[1] ?? '';
}

type Fields = Readonly<Record<string, unknown>>;

const jsonShape =
  'Caddy logs request, status and ts; nginx needs status, request or request_method and request_uri, and time_iso8601, time_local or msec';

function parseJsonLine(text: string, clock: LocalClock | undefined): Result<LoggedRequest> {
  const fields = parseObject(text);
  if (fields === undefined) return failure(`is not JSON: ${quote(text)}`);
  const { request, status } = fields;
  const isCaddy = typeof request === 'object' && request !== null;
  if (
    !/^\d{3}$/.test(String(status)) ||
    (!isCaddy && typeof (request ?? fields['request_method']) !== 'string')
  ) {
    return failure(`is not a line of an access log: ${quote(text)}; ${jsonShape}`);
  }
  const time = readJsonTime(fields, clock);
  if (!time.ok) return time;
  return success({
    occurredAt: new Date(time.value).toISOString(),
    status: Number(status),
    ...(isCaddy ? readCaddyRequest(request as Fields) : readNginxRequest(fields)),
  });
}

function parseObject(text: string): Fields | undefined {
  try {
    return JSON.parse(text) as Fields;
  } catch {
    return undefined;
  }
}

/** `ts` is of Caddy, seconds unless its `time_format` says otherwise; the others are variables of nginx. */
function readJsonTime(fields: Fields, clock: LocalClock | undefined): Result<number> {
  const { ts, msec, time_iso8601: iso8601, time_local: local } = fields;
  const [, day, monthName = '', year, time, hours, minutes] =
    /^(\d\d)\/([A-Z][a-z]{2})\/(\d{4}):(\d\d:\d\d:\d\d) ([+-]\d\d)(\d\d)$/.exec(String(local)) ?? [];
  const month = String(months.indexOf(monthName) + 1).padStart(2, '0');
  const seconds = msec ?? (typeof ts === 'number' ? ts : undefined);
  if (seconds !== undefined) return prefixProblems('time', parseTimeInFormat(seconds, 's'));
  const text =
    iso8601 ?? ts ?? (day === undefined ? local : `${year}-${month}-${day}T${time}${hours}:${minutes}`);
  if (text === undefined) return failure(`has no time; ${jsonShape}`);
  return prefixProblems('time', parseTimeInFormat(text, 'utc', clock));
}

function readCaddyRequest({ method, uri, headers }: Fields) {
  const header = (name: string) => {
    const [value]: unknown[] = Object.values((headers as Record<string, unknown[]> | null)?.[name] ?? []);
    return typeof value === 'string' ? value : '';
  };
  return {
    method: asText(method),
    path: pathOf(asText(uri)),
    referer: header('Referer'),
    userAgent: header('User-Agent'),
  };
}

function readNginxRequest(fields: Fields) {
  const {
    request,
    request_method: method,
    request_uri: uri,
    http_referer: referer,
    http_user_agent: agent,
  } = fields;
  const asked =
    method === undefined
      ? parseRequestLine(asText(request))
      : { method: asText(method), path: pathOf(asText(uri ?? fields['uri'])) };
  return { ...asked, referer: readJsonHeader(referer), userAgent: readJsonHeader(agent) };
}

function readJsonHeader(value: unknown): string {
  return value === '-' ? '' : asText(value);
}

function asText(value: unknown): string {
  return typeof value === 'string' ? value : '';
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
