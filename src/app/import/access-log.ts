/** Reads access logs. Each request to the assistant is a query. */
import { parseLogLine } from '../../domain/queries/access-log.js';
import { type CallerRules, detectCaller } from '../../domain/queries/caller-detection.js';
import { LineIds, trimEnd } from '../../domain/queries/lines.js';
import { success } from '../../domain/result.js';
import type { Parsed } from './records.js';

/** Which requests are queries, and how their callers are detected. */
export interface LogReading {
  /** Matches the paths of queries. */
  readonly path: RegExp;
  /** In upper case. */
  readonly methods: ReadonlySet<string>;
  /** Such as `200` or `2xx`. */
  readonly statuses: ReadonlySet<string>;
  readonly rules: CallerRules;
  /** The HMAC key of ids; see `LineIds`. */
  readonly idKey: Uint8Array | undefined;
}

/**
 * Returns a function that parses the lines of one log. It skips requests that are not queries. Lines in another format are
 * bad records.
 */
export function createLogParser({
  path,
  methods,
  statuses,
  rules,
  idKey,
}: LogReading): (bytes: Buffer) => Parsed {
  const ids = new LineIds(idKey);
  return (bytes) => {
    const line = trimEnd(bytes);
    // Clients may send invalid UTF-8. Latin-1 decodes any byte, and only ASCII matters here.
    const request = parseLogLine(Buffer.from(line.buffer, line.byteOffset, line.length).toString('latin1'));
    if (!request.ok) return request;
    const { method = '', status, occurredAt, referer, userAgent } = request.value;
    const isQuery =
      (statuses.has(String(status)) || statuses.has(`${Math.floor(status / 100)}xx`)) &&
      methods.has(method) &&
      path.test(request.value.path);
    if (!isQuery) return 'skipped';
    const caller = detectCaller({ headers: { referer, 'user-agent': userAgent } }, rules);
    return success({ id: ids.next(line), caller, occurredAt });
  };
}
