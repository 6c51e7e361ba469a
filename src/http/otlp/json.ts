/**
 * Reads OTLP requests in JSON: protobuf's JSON mapping, with ids in hexadecimal, 64-bit integers as strings or numbers, and
 * names in lowerCamelCase. Unknown fields are skipped.
 */
import type { Attributes } from '../../domain/queries/telemetry.js';
import { HttpError } from '../server/errors.js';
import { attributeNameBytesMax, type RecordReader, type Signal, toRecord } from './signals.js';

type JsonObject = Readonly<Record<string, unknown>>;

const uint64Max = 2n ** 64n - 1n;

/** Passes every record of a request to the reader, in order. Throws 400 at the first invalid field. */
export function readJson(body: unknown, signal: Signal, reading: RecordReader): void {
  new JsonReader(signal, reading).read(body);
}

class JsonReader {
  readonly #signal: Signal;
  readonly #reading: RecordReader;
  /** The path to the current value, for messages. */
  readonly #path: (string | number)[] = [];

  constructor(signal: Signal, reading: RecordReader) {
    this.#signal = signal;
    this.#reading = reading;
  }

  read(body: unknown): void {
    const [resources, scopes, records] = this.#signal.lists;
    this.#each(this.#object(body), resources, (one) => {
      const resource = new Map<string, string>();
      this.#in('resource', () => {
        if (isPresent(one['resource']))
          this.#attributes(this.#object(one['resource']), 'attributes', resource);
      });
      this.#each(one, scopes, (scope) => {
        this.#each(scope, records, (record) => this.#record(record, resource));
      });
    });
  }

  #record(record: JsonObject, resource: Attributes): void {
    const { traceId, spanId, parentSpanId, kind, flags, times, attributes: list, eventName } = this.#signal;
    const number = (field?: { readonly name: string }) => {
      const value = field === undefined ? undefined : record[field.name];
      return typeof value === 'number' ? value : 0;
    };
    const attributes = new Map<string, string>();
    this.#attributes(record, list.name, attributes);
    const raw = {
      traceId: this.#text(record, traceId.name).toLowerCase(),
      spanId: this.#text(record, spanId.name).toLowerCase(),
      parentSpanId: parentSpanId === undefined ? '' : this.#text(record, parentSpanId.name).toLowerCase(),
      kind: number(kind),
      flags: number(flags),
      eventName: eventName === undefined ? '' : this.#text(record, eventName.name),
      timesNs: times.map((time) => this.#nanoseconds(record, time.name)),
      attributes,
      resource,
    };
    this.#reading.onRecord(toRecord(raw, this.#signal));
  }

  #attributes(of: JsonObject, name: string, into: Map<string, string>): void {
    this.#each(of, name, (attribute) => {
      const key = this.#text(attribute, 'key');
      if (key === '' || Buffer.byteLength(key) > attributeNameBytesMax || !this.#reading.wants(key)) return;
      const value = attribute['value'];
      this.#in('value', () => {
        const text = isPresent(value) ? this.#value(this.#object(value), true) : undefined;
        if (text !== undefined) into.set(key, text);
      });
    });
  }

  /** An `AnyValue` as text. A list, such as a repeated header, becomes its text values joined with commas. */
  #value(value: JsonObject, takesList: boolean): string | undefined {
    const { stringValue, boolValue, intValue, arrayValue } = value;
    if (isPresent(stringValue)) return this.#text(value, 'stringValue');
    if (isPresent(boolValue)) {
      if (typeof boolValue !== 'boolean') return this.#fail('boolValue', 'is neither true nor false');
      return String(boolValue);
    }
    if (isPresent(intValue)) return String(this.#integer(intValue, 'intValue'));
    if (!isPresent(arrayValue) || !takesList) return undefined;
    const texts: string[] = [];
    this.#in('arrayValue', () => {
      this.#each(this.#object(arrayValue), 'values', (one) => {
        const text = this.#value(one, false);
        if (text !== undefined) texts.push(text);
      });
    });
    return texts.join(', ');
  }

  #nanoseconds(record: JsonObject, name: string): bigint {
    const value = record[name];
    if (!isPresent(value)) return 0n;
    // JSON has rounded the last digits of a number, but times are stored in milliseconds.
    const time =
      typeof value === 'number' && Number.isInteger(value) ? BigInt(value) : this.#integer(value, name);
    return time >= 0n && time <= uint64Max
      ? time
      : this.#fail(name, 'is not a time in nanoseconds since 1970');
  }

  /** Digits, or a number that JSON has not rounded: two different ids must not become equal. */
  #integer(value: unknown, name: string): bigint {
    if (typeof value === 'string' && /^-?\d{1,20}$/.test(value)) return BigInt(value);
    if (typeof value === 'number' && Number.isSafeInteger(value)) return BigInt(value);
    return this.#fail(name, 'is not a whole number; send it as a string of digits');
  }

  #text(of: JsonObject, name: string): string {
    const text = of[name];
    if (!isPresent(text)) return '';
    return typeof text === 'string' ? text : this.#fail(name, 'is not a string');
  }

  #each(of: JsonObject, name: string, onOne: (one: JsonObject) => void): void {
    const list = of[name];
    if (!isPresent(list)) return;
    const items = Array.isArray(list) ? (list as unknown[]) : this.#fail(name, 'is not an array');
    this.#in(name, () => {
      for (const [index, one] of items.entries()) this.#in(index, () => onOne(this.#object(one)));
    });
  }

  #object(value: unknown): JsonObject {
    return typeof value === 'object' && value !== null && !Array.isArray(value)
      ? (value as JsonObject)
      : this.#fail(undefined, 'is not an object');
  }

  #in(step: string | number, read: () => void): void {
    this.#path.push(step);
    read();
    this.#path.pop();
  }

  #fail(name: string | undefined, problem: string): never {
    const path = [...this.#path, ...(name === undefined ? [] : [name])]
      .map((step) => (typeof step === 'number' ? `[${step}]` : `.${step}`))
      .join('')
      .slice(1);
    throw new HttpError(400, `The body is not JSON of OTLP: ${path === '' ? 'it' : path} ${problem}.`);
  }
}

/** In protobuf's JSON mapping, null means that the field is missing. */
function isPresent(value: unknown): boolean {
  return value !== undefined && value !== null;
}
