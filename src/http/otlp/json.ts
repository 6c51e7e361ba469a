/**
 * Reads OTLP requests in JSON as they arrive, one record at a time: protobuf's JSON mapping, with ids in hexadecimal, 64-bit
 * integers as strings or numbers, and names in lowerCamelCase. Like the Collector, it also takes names in snake_case and
 * those of enum values. Unknown fields are skipped, but a list in the place of one that is read is named.
 */
import { otlpRecordBytesMax, otlpTextBytesMax } from '../../domain/limits.js';
import { isWhiteSpace } from '../../domain/queries/lines.js';
import { waitsForMessage } from '../../domain/queries/telemetry-rules.js';
import { quote } from '../../domain/result.js';
import { HttpError } from '../server/errors.js';
import type { Arriving, Reading } from './arriving.js';
import { ExcessProblem, JsonValues, SyntaxProblem } from './json-values.js';
import {
  attributeNameBytesMax,
  cutText,
  decimalText,
  idText,
  joinTexts,
  nameText,
  type RawRecord,
  type RecordReader,
  ResourceRecords,
  type Signal,
  UNREADABLE,
} from './signals.js';

type JsonObject = Readonly<Record<string, unknown>>;

type Names = readonly [usual: string, ...others: string[]];
type ListNames = readonly [resources: Names, scopes: Names, records: Names];

const uint64Max = 2n ** 64n - 1n;

/** `SpanKind` of OTLP by name. */
const kindNames: readonly string[] = ['UNSPECIFIED', 'INTERNAL', 'SERVER', 'CLIENT', 'PRODUCER', 'CONSUMER'];

/** With this byte only the word null begins. */
const NULL = 0x6e;

const byteOrderMark = Buffer.from('\ufeff');

/** Passes every record of a request to the reader, in order. Throws 400 if the body cannot be split into records. */
export function* readJson(arriving: Arriving, signal: Signal, reading: RecordReader): Reading {
  yield* arriving.hasMore();
  // As much as a message quotes.
  const beginning = Buffer.from(arriving.bytes.subarray(0, 1000));
  if (looksLikeProtobuf(beginning))
    fail('it begins like protobuf; send Content-Type: application/x-protobuf');
  try {
    yield* new JsonReader(arriving, signal, reading).read();
  } catch (error) {
    if (error instanceof ExcessProblem) fail(`a part of it ${error.message}`);
    if (!(error instanceof SyntaxProblem)) throw error;
    throw new HttpError(400, `The body is not JSON: ${quote(beginning.toString().trim())}.`);
  }
}

/** The names that the nested lists may have. */
export function listNames({ lists: [resources, scopes, records], formerLists }: Signal): ListNames {
  const namesOf = (usual: string, ...others: readonly string[]): Names => {
    const more = new Set([...others, ...[usual, ...others].map(snakeName)]);
    more.delete(usual);
    return [usual, ...more];
  };
  return [namesOf(resources), namesOf(scopes, ...formerLists), namesOf(records, ...formerLists)];
}

class JsonReader {
  readonly #arriving: Arriving;
  readonly #values: JsonValues;
  readonly #signal: Signal;
  readonly #reading: RecordReader;
  readonly #names: ListNames;

  constructor(arriving: Arriving, signal: Signal, reading: RecordReader) {
    this.#arriving = arriving;
    this.#values = new JsonValues(arriving);
    this.#signal = signal;
    this.#reading = reading;
    this.#names = listNames(signal);
  }

  *read(): Reading {
    const [resources] = this.#names;
    yield* this.#passByteOrderMark();
    if ((yield* this.#values.peek()) === undefined) throw new SyntaxProblem();
    const others: string[] = [];
    let isThere = false;
    yield* this.#object('it', (name) => {
      if (resources.includes(name)) {
        isThere = true;
        return this.#array(name, (path) => this.#resource(path));
      }
      others.push(name.slice(0, 100));
      return this.#values.skip();
    });
    yield* this.#requireEnd();
    if (!isThere && others.length > 0)
      fail(`it has no ${resources[0]}, but ${others.slice(0, 3).join(', ')}`);
  }

  /** Files of a Collector have a message on each line. */
  *#requireEnd(): Reading {
    if ((yield* this.#values.peek()) === undefined) return;
    if (!(yield* this.#values.isNext('object'))) throw new SyntaxProblem();
    fail(
      `it has a second message after ${this.#arriving.position} bytes; send each with a request, or the file with caller-stats import --format otlp`,
    );
  }

  *#resource(path: string): Reading {
    const [, scopes] = this.#names;
    const records = new ResourceRecords(this.#arriving, this.#signal, this.#reading);
    const readOther = (name: string) => (name === 'resource' ? this.#resourceAttributes(records) : undefined);
    yield* this.#listIn(path, scopes, records, (inner) => this.#scope(inner, records), readOther);
    yield* records.end();
  }

  /** Reads a message that has a list. Another list instead has a misspelt name: what is in it must not be lost in silence. */
  *#listIn(
    path: string,
    names: Names,
    records: ResourceRecords,
    readItem: (path: string) => Reading,
    readOther: (name: string) => Reading | undefined = () => undefined,
  ): Reading {
    const others: string[] = [];
    let isThere = false;
    yield* this.#object(path, (name) => {
      if (!names.includes(name)) return readOther(name) ?? this.#skip(name, others);
      isThere = true;
      return this.#array(`${path}.${name}`, readItem);
    });
    if (!isThere && others.length > 0) records.reject(`${path} has no ${names[0]}, but ${others.join(', ')}`);
  }

  /** Passes over a value. Adds the name of a list to the first of `lists`. */
  *#skip(name: string, lists: string[]): Reading {
    if (lists.length < 3 && (yield* this.#values.isNext('array'))) lists.push(name.slice(0, 100));
    yield* this.#values.skip();
  }

  *#resourceAttributes(records: ResourceRecords): Reading {
    const value = yield* this.#value();
    const resource = new Map<string, string>();
    yield* records.begin(resource, () => {
      const sent = value();
      if (isPresent(sent)) readAttributes(objectOf(sent), 'attributes', this.#reading, resource);
    });
  }

  *#scope(path: string, records: ResourceRecords): Reading {
    const [, , names] = this.#names;
    yield* this.#listIn(path, names, records, () => this.#record(records));
  }

  *#record(records: ResourceRecords): Reading {
    const value = yield* this.#value();
    records.add(() => readRecord(objectOf(value()), this.#signal, this.#reading));
  }

  /** The next value. The function that returns it throws if it was too large. */
  *#value(): Reading<() => unknown> {
    try {
      const value = yield* this.#values.value(otlpRecordBytesMax);
      return () => value;
    } catch (error) {
      if (!(error instanceof ExcessProblem)) throw error;
      return () => {
        throw error;
      };
    }
  }

  *#object(path: string, read: (name: string) => Reading): Reading {
    if (!(yield* this.#values.isNext('object'))) {
      yield* this.#values.skip();
      fail(`${path} is not an object`);
    }
    yield* this.#values.object(read);
  }

  /** Reads a list; null is an empty one. */
  *#array(path: string, read: (path: string) => Reading): Reading {
    if (yield* this.#values.isNext('array')) return yield* this.#values.array((at) => read(`${path}[${at}]`));
    if ((yield* this.#values.peek()) === NULL) return void (yield* this.#values.value(otlpTextBytesMax));
    yield* this.#values.skip();
    fail(`${path} is not an array`);
  }

  *#passByteOrderMark(): Reading {
    if (this.#arriving.available < byteOrderMark.length) yield* this.#arriving.hasMore();
    const { bytes, at } = this.#arriving;
    if (bytes.subarray(at, at + byteOrderMark.length).equals(byteOrderMark))
      this.#arriving.at += byteOrderMark.length;
  }
}

/** A message begins with its first resource, which has other control characters than text soon. */
function looksLikeProtobuf(start: Buffer): boolean {
  return start[0] === 0x0a && start.some((byte) => byte < 0x20 && !isWhiteSpace(byte));
}

function fail(problem: string): never {
  throw new HttpError(400, `The body is not JSON of OTLP: ${problem}.`);
}

/** Throws `RangeError` for a record of which no part can be trusted. */
function readRecord(record: JsonObject, signal: Signal, reading: RecordReader): RawRecord {
  const { traceId, spanId, parentSpanId, kind, flags, times, endTime, attributes: list, eventName } = signal;
  const name = signal.name === undefined ? '' : readName(fieldOf(record, signal.name.name));
  const attributes = new Map<string, string>();
  readAttributes(record, list.name, reading, attributes);
  return {
    traceId: idText(textIn(record, traceId.name)),
    spanId: idText(textIn(record, spanId.name)),
    parentSpanId: parentSpanId === undefined ? '' : idText(textIn(record, parentSpanId.name)),
    name,
    kind: kind === undefined ? 0 : readKind(fieldOf(record, kind.name)),
    flags: flags === undefined ? 0 : numberIn(fieldOf(record, flags.name)),
    eventName: eventName === undefined ? '' : cutText(textIn(record, eventName.name)),
    timesNs: times.map(({ name }) => readNanoseconds(fieldOf(record, name), name)),
    ...(endTime !== undefined &&
      waitsForMessage(name) && { endNs: readNanoseconds(fieldOf(record, endTime.name), endTime.name) }),
    attributes,
  };
}

/** Attributes that are malformed are left out, unless a rule reads them: then their value is unreadable. */
function readAttributes(
  of: JsonObject,
  name: string,
  reading: RecordReader,
  into: Map<string, string>,
): void {
  const list = fieldOf(of, name);
  if (!isPresent(list)) return;
  if (!Array.isArray(list)) throw new RangeError(`${name} is not an array`);
  for (const attribute of list as unknown[]) {
    const { key, value } = isObject(attribute) ? attribute : {};
    if (typeof key !== 'string' || key === '' || Buffer.byteLength(key) > attributeNameBytesMax) continue;
    if (!reading.wants(key)) continue;
    const text = isPresent(value) ? readValue(value, true) : undefined;
    if (text !== undefined) into.set(key, text);
  }
}

/** An `AnyValue` as text. A list, such as a repeated header, becomes its text values joined with commas. */
function readValue(value: unknown, takesList: boolean): string | undefined {
  if (!isObject(value)) return UNREADABLE;
  const [text, bool, int, double, array] = (
    ['stringValue', 'boolValue', 'intValue', 'doubleValue', 'arrayValue'] as const
  ).map((name) => fieldOf(value, name));
  if (isPresent(text)) return typeof text === 'string' ? cutText(text) : UNREADABLE;
  if (isPresent(bool)) return typeof bool === 'boolean' ? String(bool) : UNREADABLE;
  if (isPresent(int)) return String(wholeNumber(int) ?? UNREADABLE);
  if (isPresent(double)) return readDouble(double);
  if (isPresent(array) && takesList) return readList(array);
  return Object.values(value).some(isPresent) ? UNREADABLE : undefined;
}

function readDouble(double: unknown): string {
  return typeof double === 'number' || double === 'NaN' ? decimalText(Number(double)) : UNREADABLE;
}

function readList(array: unknown): string {
  const values = isObject(array) ? (array['values'] ?? []) : undefined;
  if (!Array.isArray(values)) return UNREADABLE;
  return joinTexts(values.flatMap((one) => readValue(one, false) ?? []));
}

function readKind(kind: unknown): number {
  const name = typeof kind === 'string' ? kindNames.indexOf(kind.replace('SPAN_KIND_', '')) : -1;
  return name === -1 ? numberIn(kind) : name;
}

/** 0 for what is not a number. Others would be converted by methods that the sender may have replaced. */
function numberIn(value: unknown): number {
  return typeof value === 'number' || typeof value === 'string' ? Number(value) || 0 : 0;
}

function readNanoseconds(value: unknown, name: string): bigint {
  if (!isPresent(value)) return 0n;
  // JSON has rounded the last digits of a number, but times are stored in milliseconds.
  const number = typeof value === 'string' && /^\d+(\.\d+)?e[+]?\d+$/i.test(value) ? Number(value) : value;
  const time = typeof number === 'number' && Number.isInteger(number) ? BigInt(number) : wholeNumber(number);
  if (time !== undefined && time >= 0n && time <= uint64Max) return time;
  throw new RangeError(
    `${name} is not a whole number of nanoseconds since 1970; send it as a string of digits`,
  );
}

/** Digits, or a number that JSON has not rounded: two different ids must not become equal. */
function wholeNumber(value: unknown): bigint | undefined {
  if (typeof value === 'string' && /^-?\d{1,20}$/.test(value)) return BigInt(value);
  return typeof value === 'number' && Number.isSafeInteger(value) ? BigInt(value) : undefined;
}

/** A name that is not a text names nothing. */
function readName(name: unknown): string {
  return typeof name === 'string' ? nameText(name) : '';
}

function textIn(of: JsonObject, name: string): string {
  const text = fieldOf(of, name);
  if (!isPresent(text)) return '';
  if (typeof text === 'string') return text;
  throw new RangeError(`${name} is not a string`);
}

function objectOf(value: unknown): JsonObject {
  if (isObject(value)) return value;
  throw new RangeError('is not an object');
}

function isObject(value: unknown): value is JsonObject {
  return typeof value === 'object' && value !== null && !Array.isArray(value);
}

const snakeNames = new Map<string, string>();

function snakeName(name: string): string {
  let snake = snakeNames.get(name);
  if (snake === undefined) {
    snake = name.replaceAll(/[A-Z]/g, (letter) => `_${letter.toLowerCase()}`);
    snakeNames.set(name, snake);
  }
  return snake;
}

function fieldOf(of: JsonObject, name: string): unknown {
  return of[name] ?? of[snakeName(name)];
}

/** In protobuf's JSON mapping, null means that the field is missing. */
function isPresent(value: unknown): boolean {
  return value !== undefined && value !== null;
}
