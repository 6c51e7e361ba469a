/** Reads access logs. Each request to the assistant is a query. */
import { parseLogLine } from '../../domain/queries/access-log.js';
import { type CallerRules, detectCaller } from '../../domain/queries/caller-detection.js';
import { isBlank, LineIds, trimEnd } from '../../domain/queries/lines.js';
import { failure, success } from '../../domain/result.js';
import { type ImportRecord, readLines, tooLongProblem } from './records.js';

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

/** Skips requests that are not queries. Lines in another format are bad records. */
export async function* readAccessLog(
  chunks: AsyncIterable<Buffer>,
  { path, methods, statuses, rules, idKey }: LogReading,
): AsyncGenerator<ImportRecord> {
  const ids = new LineIds(idKey);
  for await (const { number, bytes } of readLines(chunks)) {
    if (bytes === undefined) {
      yield { line: number, value: failure(tooLongProblem) };
      continue;
    }
    if (isBlank(bytes)) continue;
    const line = trimEnd(bytes);
    // Clients may send invalid UTF-8. Latin-1 decodes any byte, and only ASCII matters here.
    const request = parseLogLine(Buffer.from(line.buffer, line.byteOffset, line.length).toString('latin1'));
    if (!request.ok) {
      yield { line: number, value: request };
      continue;
    }
    const { method = '', status, occurredAt, referer, userAgent } = request.value;
    const isWanted =
      (statuses.has(String(status)) || statuses.has(`${Math.floor(status / 100)}xx`)) &&
      methods.has(method) &&
      path.test(request.value.path);
    if (!isWanted) {
      yield { line: number, value: 'skipped' };
      continue;
    }
    const caller = detectCaller({ headers: { referer, 'user-agent': userAgent } }, rules);
    yield { line: number, value: success({ id: ids.next(line), caller, occurredAt }) };
  }
}
