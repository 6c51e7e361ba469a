/** Reads access logs. Each request to the assistant is a query. */

import { identicalLinesKept } from '../../domain/limits.js';
import { parseLogLine } from '../../domain/queries/access-log.js';
import { type CallerRules, detectCaller } from '../../domain/queries/caller-detection.js';
import { type IdOrigin, LineIds, trimEnd } from '../../domain/queries/lines.js';
import { success } from '../../domain/result.js';
import type { LocalClock } from '../../domain/time/timestamp-formats.js';
import type { Parsed } from './records.js';

/** Of a text in UTF-8, and of each that was joined with others. */
const byteOrderMark = Buffer.from('\ufeff');

/** Counts the lines that several files have: of one log, they are the same; of several servers, they are not. */
export class SharedLines {
  readonly #files = new Map<string, number>();
  #file = 0;
  /** At least so many. */
  count = 0;

  beginFile(): void {
    this.#file++;
  }

  add(id: string): void {
    const file = this.#files.get(id);
    if (file === undefined && this.#files.size < identicalLinesKept) this.#files.set(id, this.#file);
    else if (file !== undefined && file !== this.#file) this.count++;
  }
}

/** Which requests are queries, and how their callers are detected. */
export interface LogReading {
  /** Matches the paths of queries. */
  readonly path: RegExp;
  /** In upper case. */
  readonly methods: ReadonlySet<string>;
  /** Such as `200` or `2xx`. */
  readonly statuses: ReadonlySet<string>;
  readonly rules: CallerRules;
  readonly ids: IdOrigin;
  readonly shared: SharedLines;
  /** Whether all files are said to be of one server. */
  readonly isOneLog: boolean;
  readonly clock: LocalClock | undefined;
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
  ids: origin,
  shared,
  clock,
}: LogReading): (bytes: Buffer) => Parsed {
  const ids = new LineIds(origin);
  shared.beginFile();
  return (bytes) => {
    const line = trimEnd(bytes.indexOf(byteOrderMark) === 0 ? bytes.subarray(byteOrderMark.length) : bytes);
    // Clients may send invalid UTF-8. Latin-1 decodes any byte, and only ASCII matters here.
    const request = parseLogLine(
      Buffer.from(line.buffer, line.byteOffset, line.length).toString('latin1'),
      clock,
    );
    if (!request.ok) return request;
    const { method = '', status, occurredAt, referer, userAgent } = request.value;
    const isQuery =
      (statuses.has(String(status)) || statuses.has(`${Math.floor(status / 100)}xx`)) &&
      methods.has(method) &&
      path.test(request.value.path);
    if (!isQuery) return 'skipped';
    const caller = detectCaller({ headers: { referer, 'user-agent': userAgent } }, rules);
    const id = ids.next(line);
    shared.add(id);
    return success({ id, caller, occurredAt });
  };
}
