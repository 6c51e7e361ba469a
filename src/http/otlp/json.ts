/**
 * Reads OTLP requests in JSON: protobuf's JSON mapping with ids as hexadecimal digits, 64-bit numbers as text or numbers,
 * names in lowerCamelCase, and unknown ones passed over.
 */
import type { Attributes } from '../../domain/queries/telemetry.js';
import { HttpError } from '../errors.js';
import { attributeNameBytesMax, type Field, type RecordReader, type Signal, toRecord } from './signals.js';

type JsonObject = Readonly<Record<string, unknown>>;

/** Hands over every record of a request, in order. `400` for what is no such message; records before it were handed over. */
export function readJson(body: unknown, signal: Signal, reading: RecordReader): void {
  new JsonReader(signal, reading).read(body);
}

const uint64Max = 2n ** 64n - 1n;

class JsonReader {
  readonly #signal: Signal;
  readonly #reading: RecordReader;
  /** Where the reader is, for messages. */
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
        if (isThere(one['resource'])) this.#attributes(this.#object(one['resource']), 'attributes', resource);
      });
      this.#each(one, scopes, (scope) => {
        this.#each(scope, records, (record) => this.#record(record, resource));
      });
    });
  }

  #record(record: JsonObject, resource: Attributes): void {
    const { traceId, spanId, times, attributes: list, eventName } = this.#signal;
    const attributes = new Map<string, string>();
    this.#attributes(record, list.name, attributes);
    const read = toRecord({
      traceId: this.#text(record, traceId).toLowerCase(),
      spanId: this.#text(record, spanId).toLowerCase(),
      eventName: eventName === undefined ? '' : this.#text(record, eventName),
      timesNs: times.map((time) => this.#nanoseconds(record, time)),
      attributes,
      resource,
    });
    this.#reading.onRecord(read);
  }

  #attributes(of: JsonObject, name: string, into: Map<string, string>): void {
    this.#each(of, name, (attribute) => {
      const key = this.#text(attribute, { name: 'key', number: 1 });
      if (key === '' || Buffer.byteLength(key) > attributeNameBytesMax || !this.#reading.wants(key)) return;
      const value = attribute['value'];
      this.#in('value', () => {
        const text = isThere(value) ? this.#value(this.#object(value), true) : undefined;
        if (text !== undefined) into.set(key, text);
      });
    });
  }

  /** An `AnyValue` as text: of a list, all values that are text, as in a header that was sent twice. */
  #value(value: JsonObject, takesList: boolean): string | undefined {
    const { stringValue, boolValue, intValue, arrayValue } = value;
    if (isThere(stringValue)) return this.#text(value, { name: 'stringValue', number: 1 });
    if (isThere(boolValue)) {
      if (typeof boolValue !== 'boolean') return this.#fail('boolValue', 'is neither true nor false');
      return String(boolValue);
    }
    if (isThere(intValue)) return String(this.#integer(intValue, 'intValue'));
    if (!isThere(arrayValue) || !takesList) return undefined;
    const texts: string[] = [];
    this.#in('arrayValue', () => {
      this.#each(this.#object(arrayValue), 'values', (one) => {
        const text = this.#value(one, false);
        if (text !== undefined) texts.push(text);
      });
    });
    return texts.join(', ');
  }

  #nanoseconds(record: JsonObject, { name }: Field): bigint {
    const value = record[name];
    if (!isThere(value)) return 0n;
    // As a number it has lost its last digits, but none that are kept.
    const time =
      typeof value === 'number' && Number.isInteger(value) ? BigInt(value) : this.#integer(value, name);
    return time >= 0n && time <= uint64Max
      ? time
      : this.#fail(name, 'is not a time in nanoseconds since 1970');
  }

  /** Digits, or a number that JSON has not rounded: two ids must never become one. */
  #integer(value: unknown, name: string): bigint {
    if (typeof value === 'string' && /^-?\d{1,20}$/.test(value)) return BigInt(value);
    if (typeof value === 'number' && Number.isSafeInteger(value)) return BigInt(value);
    return this.#fail(name, 'is not a whole number; send it as a string of digits');
  }

  #text(of: JsonObject, { name }: Field): string {
    const text = of[name];
    if (!isThere(text)) return '';
    return typeof text === 'string' ? text : this.#fail(name, 'is not a string');
  }

  #each(of: JsonObject, name: string, onOne: (one: JsonObject) => void): void {
    const list = of[name];
    if (!isThere(list)) return;
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

/** Protobuf's JSON takes null for a field that is not there. */
function isThere(value: unknown): boolean {
  return value !== undefined && value !== null;
}
