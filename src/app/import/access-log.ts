/** Reads access logs: each line about a request that asked the assistant is a query. */
import { parseLogLine } from '../../domain/queries/access-log.js';
import { type CallerRules, detectCaller } from '../../domain/queries/caller-detection.js';
import { isBlank, LineIds, trimEnd } from '../../domain/queries/lines.js';
import { failure, success } from '../../domain/result.js';
import { readLines, tooLongProblem } from './lines.js';
import type { ImportRecord } from './records.js';

/** Which requests are queries, and whose. */
export interface LogReading {
  /** What the path of a request has to match. */
  readonly path: RegExp;
  /** In capitals. */
  readonly methods: ReadonlySet<string>;
  /** Such as `200`, or `2xx` for all from 200 to 299. */
  readonly statuses: ReadonlySet<string>;
  readonly rules: CallerRules;
  /** Ids are made with it, where there is one. */
  readonly idKey: Uint8Array | undefined;
}

/** Requests that are no queries are passed over. Lines that are none of such a log are bad. */
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
    // A byte is a character: what clients send need not be UTF-8, and only what is ASCII is looked at.
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
