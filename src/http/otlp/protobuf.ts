/**
 * Reads OTLP requests in protobuf. It skips unused fields without decoding them, because most of a request is prompts and
 * answers. The recursion is bounded, so deep nesting does no harm.
 */
import { BinaryReader, WireType } from '@bufbuild/protobuf/wire';
import { otlpPartsMax } from '../../domain/limits.js';
import { decodeUtf8 } from '../../domain/queries/lines.js';
import type { Attributes } from '../../domain/queries/telemetry.js';
import { HttpError } from '../server/errors.js';
import {
  attributeNameBytesMax,
  type RawRecord,
  type RecordReader,
  type Signal,
  toRecord,
} from './signals.js';

/** Fields of the messages around records, the same for every signal. */
const RESOURCES = 1;
const RESOURCE = 1;
const SCOPES = 2;
const RECORDS = 2;
const RESOURCE_ATTRIBUTES = 1;

/** Fields of `KeyValue`, `AnyValue` and `ArrayValue`. */
const KEY = 1;
const VALUE = 2;
const STRING = 1;
const BOOL = 2;
const INT = 3;
const ARRAY = 5;
const ARRAY_VALUES = 1;

/** Decoding a record takes as long as skipping this number of fields. */
const partsOfRecord = 10;

/** Passes every record of a request to the reader, in order. Throws 400 for invalid bytes and 413 for too many fields. */
export function readProtobuf(bytes: Uint8Array, signal: Signal, reading: RecordReader): void {
  const reader = new ProtobufReader(bytes, signal, reading);
  try {
    reader.read();
  } catch (error) {
    // The library throws these for invalid bytes.
    if (error instanceof RangeError || (error instanceof Error && error.constructor === Error)) {
      throw new HttpError(400, `The body is not a protobuf message of OTLP: ${error.message}.`);
    }
    throw error;
  }
}

type ReadFields = {
  -readonly [Name in Exclude<keyof RawRecord, 'attributes' | 'resource' | 'timesNs'>]: RawRecord[Name];
} & {
  readonly timesNs: bigint[];
};

class ProtobufReader {
  readonly #reader: BinaryReader;
  readonly #signal: Signal;
  readonly #reading: RecordReader;
  #parts = 0;

  constructor(bytes: Uint8Array, signal: Signal, reading: RecordReader) {
    this.#reader = new BinaryReader(bytes, decodeText);
    this.#signal = signal;
    this.#reading = reading;
  }

  read(): void {
    this.#messages(this.#reader.len, RESOURCES, (end) => this.#readResource(end));
  }

  /** Reads the message twice, because the resource may come after the records that it belongs to. */
  #readResource(end: number): void {
    const start = this.#reader.pos;
    const resource = new Map<string, string>();
    this.#messages(end, RESOURCE, (inner) => {
      this.#messages(inner, RESOURCE_ATTRIBUTES, (one) => this.#attribute(one, resource));
    });
    this.#reader.pos = start;
    this.#messages(end, SCOPES, (scope) => {
      this.#messages(scope, RECORDS, (record) => this.#record(record, resource));
    });
  }

  #record(end: number, resource: Attributes): void {
    const { attributes, eventName } = this.#signal;
    const read: ReadFields = {
      traceId: '',
      spanId: '',
      parentSpanId: '',
      eventName: '',
      kind: 0,
      flags: 0,
      timesNs: [],
    };
    // Created on demand, because a request may have millions of empty records.
    let own: Map<string, string> | undefined;
    this.#fields(end, (field, type) => {
      if (type !== WireType.LengthDelimited) return this.#number(field, type, read);
      if (field === attributes.number) own = this.#attribute(this.#reader.uint32() + this.#reader.pos, own);
      else if (field === eventName?.number) read.eventName = this.#reader.string();
      else return this.#id(field, read);
      return true;
    });
    // A log record without a wanted attribute says nothing; a span may be the parent of one that does.
    if (own === undefined && read.eventName === '' && this.#signal.parentSpanId === undefined) return;
    this.#count(partsOfRecord);
    this.#reading.onRecord(toRecord({ ...read, attributes: own ?? new Map(), resource }, this.#signal));
  }

  #number(field: number, type: WireType, read: ReadFields): boolean {
    const { times, kind, flags } = this.#signal;
    const time = type === WireType.Bit64 ? times.findIndex(({ number }) => number === field) : -1;
    if (time !== -1) read.timesNs[time] = BigInt(this.#reader.fixed64());
    else if (field === kind?.number && type === WireType.Varint) read.kind = this.#reader.int32();
    else if (field === flags?.number && type === WireType.Bit32) read.flags = this.#reader.fixed32();
    else return false;
    return true;
  }

  #id(field: number, read: ReadFields): boolean {
    const { traceId, spanId, parentSpanId } = this.#signal;
    if (field === traceId.number) read.traceId = toHex(this.#reader.bytes());
    else if (field === spanId.number) read.spanId = toHex(this.#reader.bytes());
    else if (field === parentSpanId?.number) read.parentSpanId = toHex(this.#reader.bytes());
    else return false;
    return true;
  }

  /** Adds the attribute that ends at `end` to the map, if it is wanted and its value has a text form. Returns the map. */
  #attribute<M extends Map<string, string> | undefined>(end: number, into: M): M | Map<string, string> {
    const reader = this.#reader;
    let name = '';
    let valueAt: number | undefined;
    this.#fields(end, (field, type) => {
      if (type !== WireType.LengthDelimited) return false;
      // Only its position: the value is decoded when the name is known.
      if (field === VALUE) valueAt = reader.pos;
      if (field !== KEY) return false;
      const start = reader.pos;
      const isShort = reader.uint32() <= attributeNameBytesMax;
      reader.pos = start;
      if (isShort) name = reader.string();
      return isShort;
    });
    if (name === '' || valueAt === undefined || !this.#reading.wants(name)) return into;
    reader.pos = valueAt;
    const text = this.#value(reader.uint32() + reader.pos, true);
    reader.pos = end;
    return text === undefined ? into : (into ?? new Map<string, string>()).set(name, text);
  }

  /** An `AnyValue` as text. A list, such as a repeated header, becomes its text values joined with commas. */
  #value(end: number, takesList: boolean): string | undefined {
    const reader = this.#reader;
    let text: string | undefined;
    this.#fields(end, (field, type) => {
      if (field === STRING && type === WireType.LengthDelimited) text = reader.string();
      else if (field === BOOL && type === WireType.Varint) text = String(reader.bool());
      else if (field === INT && type === WireType.Varint) text = String(reader.int64());
      else if (field === ARRAY && type === WireType.LengthDelimited && takesList) {
        text = this.#list(reader.uint32() + reader.pos);
      } else return false;
      return true;
    });
    return text;
  }

  #list(end: number): string {
    const texts: string[] = [];
    this.#messages(end, ARRAY_VALUES, (one) => {
      const text = this.#value(one, false);
      if (text !== undefined) texts.push(text);
    });
    return texts.join(', ');
  }

  /** Calls `onMessage` with the end of each message in one field. */
  #messages(end: number, wanted: number, onMessage: (end: number) => void): void {
    this.#fields(end, (field, type) => {
      if (field !== wanted || type !== WireType.LengthDelimited) return false;
      onMessage(this.#reader.uint32() + this.#reader.pos);
      return true;
    });
  }

  /** Limits the time that one request blocks the event loop: a body of ten megabytes may have millions of fields. */
  #count(parts: number): void {
    this.#parts += parts;
    if (this.#parts > otlpPartsMax) {
      throw new HttpError(
        413,
        `The body has more than ${otlpPartsMax} fields; send fewer ${this.#signal.records} at a time.`,
      );
    }
  }

  /** Calls `onField` for each field of the message that ends at `end`, and skips the field if that returns false. */
  #fields(end: number, onField: (field: number, type: WireType) => boolean): void {
    const reader = this.#reader;
    if (end > reader.len) throw new RangeError('it ends too early');
    while (reader.pos < end) {
      this.#count(1);
      const [field, type] = reader.tag();
      if (!onField(field, type)) reader.skip(type, field);
    }
    if (reader.pos !== end) throw new RangeError('a part of it does not end where it should');
  }
}

function toHex(bytes: Uint8Array): string {
  return Buffer.from(bytes.buffer, bytes.byteOffset, bytes.byteLength).toString('hex');
}

/** The library's own decoder replaces invalid UTF-8, so two different ids could become equal. */
function decodeText(bytes: Uint8Array): string {
  const text = decodeUtf8(bytes);
  if (!text.ok) throw new RangeError('a text in it is not valid UTF-8');
  return text.value;
}
