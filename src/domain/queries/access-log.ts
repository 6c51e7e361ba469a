/**
 * Lines of the access logs of nginx and Apache: the common format, the combined one, and either with a virtual host before
 * it (Apache's `vhost_combined`) or fields of one's own behind it.
 */
import { failure, quote, type Result, success } from '../result.js';

/** A request as a log has it. */
export interface LoggedRequest {
  /** In RFC 3339, as the log has it otherwise; it may still be impossible, like February 30. */
  readonly occurredAt: string;
  /** Undefined where what was sent is no request, as when somebody speaks TLS to a port without. */
  readonly method: string | undefined;
  /** Of the request's target, without query; empty where there is none. As it was sent: nothing in it is decoded. */
  readonly path: string;
  readonly status: number;
  /** Empty where there is none, or the format has none. */
  readonly referer: string;
  readonly userAgent: string;
}

const quoted = '"((?:[^"\\\\]|\\\\.)*)"';

/** Takes time in proportion to the line: no part can match what another could take instead. */
const line = new RegExp(
  String.raw`^\S+ \S+ [^"[\]]*\[(\d\d)/([A-Z][a-z]{2})/(\d{4}):(\d\d:\d\d:\d\d) ([+-]\d\d)(\d\d)\] ` +
    `${quoted} (\\d{3}) (?:\\d+|-)(?: ${quoted} ${quoted}(?: .*)?| [^"].*)?$`,
);

const months = 'Jan Feb Mar Apr May Jun Jul Aug Sep Oct Nov Dec'.split(' ');

const shape = 'host - - [31/Jan/2026:23:59:59 +0000] "POST /path HTTP/1.1" 200 512 "referer" "user agent"';

export function parseLogLine(text: string): Result<LoggedRequest> {
  const match = line.exec(text);
  if (match === null) return failure(`is not a line of an access log: ${quote(text)}; that is ${shape}`);
  const [
    ,
    day,
    monthName = '',
    year,
    time,
    hours,
    minutes,
    request = '',
    status,
    referer = '',
    userAgent = '',
  ] = match;
  const month = months.indexOf(monthName) + 1;
  if (month === 0) return failure(`${quote(monthName)} is not the name of a month, as in 31/Jan/2026`);
  const [, method, target = ''] = /^([A-Z]+) (\S+)(?: HTTP\/[\d.]+)?$/.exec(unescaped(request)) ?? [];
  return success({
    occurredAt: `${year}-${String(month).padStart(2, '0')}-${day}T${time}${hours}:${minutes}`,
    method,
    path: /^(?:[a-z]+:\/\/[^/?#]*)?([^?#]*)/i.exec(target)?.[1] ?? '',
    status: Number(status),
    referer: headerOf(referer),
    userAgent: headerOf(userAgent),
  });
}

function headerOf(logged: string): string {
  return logged === '-' ? '' : unescaped(logged);
}

/** Both servers write `\xHH` for what is not printable, nginx for quotes too; Apache puts a backslash before those. */
function unescaped(logged: string): string {
  return logged.replace(/\\(?:x([0-9A-Fa-f]{2})|(.))/g, (_all, code: string | undefined, sign: string) =>
    code === undefined ? sign : String.fromCharCode(Number.parseInt(code, 16)),
  );
}
