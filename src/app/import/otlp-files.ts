/**
 * Sends the spans and log records of OTLP files, as the OpenTelemetry Collector's file exporter writes them, to a server. Only
 * the server knows which of them are queries: its rules may differ between projects, and it knows what arrived before.
 */

import { formatQuantity } from '../../domain/format.js';
import { badRecordsNamedMax, otlpLineBytesMax } from '../../domain/limits.js';
import { isBlank, parseJson } from '../../domain/queries/lines.js';
import type { Progress } from '../progress.js';
import { isObject } from './fields.js';
import { type Source, SourceError } from './file/source.js';
import { readLines } from './records.js';

/** The names that a nested list may have. It is sent with the usual one. */
type Names = readonly [usual: string, ...others: string[]];
/** Those of the lists of a signal's messages. */
type Lists = readonly [resources: Names, scopes: Names, records: Names];

/** Sends a message. Throws `RefusedError` if the server refuses it, and other errors to end the import. */
type SendMessage = (lists: Lists, message: object) => Promise<{ rejected: number; reason: string }>;

/** The server refused a message, because it is malformed or too large. */
export class RefusedError extends Error {
  override readonly name = 'RefusedError';
}

export interface SentTotals {
  /** Spans and log records. */
  sent: number;
  /** Those that the server rejected or refused. A line that cannot be read counts as one. */
  bad: number;
  /** Lines with metrics. */
  skipped: number;
}

interface Plan {
  readonly sources: readonly Source[];
  readonly signals: readonly Lists[];
  readonly send: SendMessage;
  readonly progress: Progress;
}

/** Records of one resource and scope in one line. */
interface Part {
  readonly line: number;
  readonly resource: object;
  readonly scope: object;
  readonly records: readonly unknown[];
}

const batchRecords = 1000;

const METRICS: readonly string[] = ['resourceMetrics', 'resource_metrics'];

export async function sendFiles(plan: Plan): Promise<SentTotals> {
  const sender = new Sender(plan);
  for (const source of plan.sources) await sender.sendFile(source);
  return sender.finish();
}

class Sender {
  readonly #plan: Plan;
  readonly #totals: SentTotals = { sent: 0, bad: 0, skipped: 0 };

  constructor(plan: Plan) {
    this.#plan = plan;
  }

  async sendFile(source: Source): Promise<void> {
    try {
      for await (const lines of readLines(source.read(this.#plan.progress.advance), otlpLineBytesMax))
        for (const { number, bytes } of lines) {
          const place = `${source.name}:${number}`;
          if (bytes === undefined) this.#addBad(1, `${place}: is longer than ${otlpLineBytesMax} bytes`);
          else if (!isBlank(bytes)) await this.#sendLine(bytes, number, source.name);
        }
    } catch (error) {
      if (!(error instanceof SourceError)) throw error;
      this.#addBad(1, `${source.name}: ${error.message}`);
    }
  }

  finish(): SentTotals {
    const unnamed = this.#totals.bad - badRecordsNamedMax;
    if (unnamed > 0) this.#plan.progress.note(`… and ${formatQuantity(unnamed, 'more bad record')}`);
    return this.#totals;
  }

  async #sendLine(bytes: Buffer, line: number, file: string): Promise<void> {
    const json = parseJson(bytes, { partsMax: Number.POSITIVE_INFINITY });
    const message = json.ok && isObject(json.value) ? (json.value as Record<string, unknown>) : undefined;
    const has = (names: readonly string[]) =>
      message !== undefined && names.some((name) => Object.hasOwn(message, name));
    const signals = this.#plan.signals.filter(([resources]) => has(resources));
    if (signals.length === 0 && has(METRICS)) {
      this.#totals.skipped++;
      return;
    }
    if (signals.length === 0 || message === undefined) {
      const problem = json.ok ? 'has neither resourceSpans nor resourceLogs' : json.problems.join('; ');
      return this.#addBad(1, `${file}:${line}: ${problem}`);
    }
    try {
      for (const lists of signals)
        for (const part of splitMessage(message, lists, line)) await this.#send(lists, part, file);
    } catch (error) {
      if (!(error instanceof RefusedError)) throw error;
      this.#addBad(1, `${file}:${line}: ${error.message}`);
    }
    this.#plan.progress.show(this.#totals.sent);
  }

  /** Sends the records; in halves if the server refuses them, to find those that it refuses. */
  async #send(lists: Lists, part: Part, file: string): Promise<void> {
    const [[resources], [scopes], [names]] = lists;
    const { line, resource, scope, records } = part;
    const message = { [resources]: [{ ...resource, [scopes]: [{ ...scope, [names]: records }] }] };
    try {
      const { rejected, reason } = await this.#plan.send(lists, message);
      this.#totals.sent += records.length;
      if (rejected > 0) this.#addBad(rejected, `${file}:${line}: ${reason}`);
    } catch (error) {
      if (!(error instanceof RefusedError)) throw error;
      if (records.length === 1) {
        this.#totals.sent++;
        return this.#addBad(1, `${file}:${line}: ${error.message}`);
      }
      const half = Math.ceil(records.length / 2);
      await this.#send(lists, { ...part, records: records.slice(0, half) }, file);
      await this.#send(lists, { ...part, records: records.slice(half) }, file);
    }
  }

  #addBad(count: number, problem: string): void {
    if (this.#totals.bad < badRecordsNamedMax) this.#plan.progress.note(problem);
    this.#totals.bad += count;
  }
}

function* splitMessage(message: object, [resources, scopes, names]: Lists, line: number): Generator<Part> {
  for (const resource of listOf(message, resources)) {
    for (const scope of listOf(resource, scopes)) {
      const records = listOf(scope, names);
      const around = { line, resource: without(resource, scopes), scope: without(scope, names) };
      for (let at = 0; at < records.length; at += batchRecords) {
        yield { ...around, records: records.slice(at, at + batchRecords) };
      }
    }
  }
}

function listOf(value: object, names: Names): readonly object[] {
  const members = value as Readonly<Record<string, unknown>>;
  return names.flatMap((name) => {
    const list = (Object.hasOwn(members, name) ? members[name] : undefined) ?? [];
    if (Array.isArray(list) && list.every(isObject)) return list;
    throw new RefusedError(`${name}: is not an array of objects`);
  });
}

function without(value: object, names: Names): object {
  return Object.fromEntries(Object.entries(value).filter(([name]) => !names.includes(name)));
}
