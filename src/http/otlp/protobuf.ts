/**
 * Reads OTLP requests in protobuf as they arrive, one record at a time. It skips unused fields without decoding them, because
 * most of a request is prompts and answers. The recursion is bounded, so deep nesting does no harm.
 */
import { BinaryReader, WireType } from '@bufbuild/protobuf/wire';
import { otlpRecordBytesMax, otlpRecordPartsMax } from '../../domain/limits.js';
import { HttpError } from '../server/errors.js';
import type { Arriving, Reading } from './arriving.js';
import {
  attributeNameBytesMax,
  decimalText,
  idCharactersMax,
  idText,
  joinTexts,
  nameText,
  type RawRecord,
  type RecordReader,
  ResourceRecords,
  type Signal,
  textOf,
  UNREADABLE,
} from './signals.js';

/** Fields of the messages around records, the same for every signal. */
const RESOURCES = 1;
const RESOURCE = 1;
/** Their name until 2022 was `instrumentation_library_spans`, which has the second number. */
const SCOPES: readonly number[] = [2, 1000];
const RECORDS = 2;
const RESOURCE_ATTRIBUTES = 1;

/** Fields of `KeyValue`, `AnyValue` and `ArrayValue`. */
const KEY = 1;
const VALUE = 2;
const ARRAY = 5;
const ARRAY_VALUES = 1;

/** The values that `AnyValue` has by field, and how to read those that are one text. */
const VALUES: ReadonlyMap<number, { type: WireType; read?: (reader: BinaryReader) => string }> = new Map([
  [1, { type: WireType.LengthDelimited, read: (reader: BinaryReader) => reader.string() }],
  [2, { type: WireType.Varint, read: (reader: BinaryReader) => String(reader.bool()) }],
  [3, { type: WireType.Varint, read: (reader: BinaryReader) => String(reader.int64()) }],
  [4, { type: WireType.Bit64, read: (reader: BinaryReader) => decimalText(reader.double()) }],
  [ARRAY, { type: WireType.LengthDelimited }],
  // Lists of attributes, and bytes.
  [6, { type: WireType.LengthDelimited }],
  [7, { type: WireType.LengthDelimited }],
]);

const varintBytesMax = 10;

/** Passes every record of a request to the reader, in order. Throws 400 if the body cannot be split into records. */
export function* readProtobuf(arriving: Arriving, signal: Signal, reading: RecordReader): Reading {
  yield* arriving.hasMore();
  // With these no message begins.
  const isJson = ['{', '['].includes(arriving.bytes.toString('latin1', 0, 1));
  try {
    yield* new ProtobufReader(arriving, signal, reading).read();
  } catch (error) {
    if (!(error instanceof RangeError)) throw error;
    const problem = isJson ? 'it begins like JSON; send Content-Type: application/json' : error.message;
    throw new HttpError(400, `The body is not a protobuf message of OTLP: ${problem}.`);
  }
}

class ProtobufReader {
  readonly #arriving: Arriving;
  readonly #signal: Signal;
  readonly #reading: RecordReader;

  constructor(arriving: Arriving, signal: Signal, reading: RecordReader) {
    this.#arriving = arriving;
    this.#signal = signal;
    this.#reading = reading;
  }

  *read(): Reading {
    while (yield* this.#arriving.hasMore())
      yield* this.#field(Number.POSITIVE_INFINITY, (field, length) =>
        field === RESOURCES ? this.#resource(length) : undefined,
      );
  }

  *#resource(length: number): Reading {
    const records = new ResourceRecords(this.#arriving, this.#signal, this.#reading);
    yield* this.#message(length, (field, inner) => {
      if (field === RESOURCE) return this.#resourceAttributes(inner, records);
      return SCOPES.includes(field) ? this.#scope(inner, records) : undefined;
    });
    yield* records.end();
  }

  *#resourceAttributes(length: number, records: ResourceRecords): Reading {
    const bytes = yield* this.#arriving.take(length);
    const resource = new Map<string, string>();
    yield* records.begin(resource, () => new MessageReader(bytes, this.#reading).resource(resource));
  }

  *#scope(length: number, records: ResourceRecords): Reading {
    yield* this.#message(length, (field, inner) =>
      field === RECORDS ? this.#record(inner, records) : undefined,
    );
  }

  *#record(length: number, records: ResourceRecords): Reading {
    if (length > otlpRecordBytesMax) {
      yield* this.#arriving.skip(length);
      records.reject(`is longer than ${otlpRecordBytesMax} bytes`);
      return;
    }
    const bytes = yield* this.#arriving.take(length);
    records.add(() => new MessageReader(bytes, this.#reading).record(this.#signal));
  }

  /** Reads the fields of a message with this length. */
  *#message(length: number, read: (field: number, length: number) => Reading | undefined): Reading {
    const end = this.#arriving.position + length;
    while (this.#arriving.position < end) yield* this.#field(end, read);
    if (this.#arriving.position !== end) throw new RangeError('a part of it does not end where it should');
  }

  /** Reads the next field, which must end before `end`, or skips it if `read` does not read it. */
  *#field(end: number, read: (field: number, length: number) => Reading | undefined): Reading {
    yield* this.#arriving.step();
    const tag = yield* this.#varint();
    const type = tag % 8;
    const field = Math.floor(tag / 8);
    if (field === 0 || field >= 2 ** 29) throw new RangeError('a field in it has no number');
    if (type === WireType.Varint) yield* this.#varint();
    else if (type === WireType.Bit64) yield* this.#arriving.skip(8);
    else if (type === WireType.Bit32) yield* this.#arriving.skip(4);
    else if (type === WireType.LengthDelimited) {
      const length = yield* this.#varint();
      if (this.#arriving.position + length > end || length >= 2 ** 32)
        throw new RangeError('a part of it is longer than what it is in');
      yield* read(field, length) ?? this.#arriving.skip(length);
    } else throw new RangeError('a field in it has no known type');
  }

  *#varint(): Reading<number> {
    let value = 0;
    for (let at = 0; at < varintBytesMax; at++) {
      if (this.#arriving.available === 0) yield* this.#arriving.more(1);
      const byte = this.#arriving.bytes[this.#arriving.at++] ?? 0;
      value += (byte & 0x7f) * 2 ** (7 * at);
      if (byte < 0x80) return value;
    }
    throw new RangeError('a number in it is too long');
  }
}

type ReadFields = {
  -readonly [Name in Exclude<keyof RawRecord, 'attributes' | 'timesNs'>]: RawRecord[Name];
} & {
  readonly timesNs: bigint[];
};

/** Reads the message of a resource or record. Throws `RangeError` or `Error` for invalid bytes. */
class MessageReader {
  readonly #reader: BinaryReader;
  readonly #reading: RecordReader;
  #parts = 0;

  constructor(bytes: Uint8Array, reading: RecordReader) {
    this.#reader = new BinaryReader(bytes, textOf);
    this.#reading = reading;
  }

  resource(into: Map<string, string>): void {
    this.#messages(this.#reader.len, RESOURCE_ATTRIBUTES, (end) => this.#attribute(end, into));
  }

  record(signal: Signal): RawRecord {
    const { attributes, name, eventName } = signal;
    const own = new Map<string, string>();
    const read: ReadFields = {
      traceId: '',
      spanId: '',
      parentSpanId: '',
      name: '',
      eventName: '',
      kind: 0,
      flags: 0,
      timesNs: [],
      endNs: 0n,
    };
    this.#fields(this.#reader.len, (field, type) => {
      if (type !== WireType.LengthDelimited) return this.#number(signal, field, type, read);
      if (field === attributes.number) this.#attribute(this.#reader.uint32() + this.#reader.pos, own);
      else if (field === name?.number) read.name = nameText(this.#reader.string());
      else if (field === eventName?.number) read.eventName = this.#reader.string();
      else return this.#id(signal, field, read);
      return true;
    });
    return { ...read, attributes: own };
  }

  #number({ times, endTime, kind, flags }: Signal, field: number, type: WireType, read: ReadFields): boolean {
    const time = type === WireType.Bit64 ? times.findIndex(({ number }) => number === field) : -1;
    if (time !== -1) read.timesNs[time] = BigInt(this.#reader.fixed64());
    else if (field === endTime?.number && type === WireType.Bit64)
      read.endNs = BigInt(this.#reader.fixed64());
    else if (field === kind?.number && type === WireType.Varint) read.kind = this.#reader.int32();
    else if (field === flags?.number && type === WireType.Bit32) read.flags = this.#reader.fixed32();
    else return false;
    return true;
  }

  #id({ traceId, spanId, parentSpanId }: Signal, field: number, read: ReadFields): boolean {
    if (field === traceId.number) read.traceId = readId(this.#reader.bytes());
    else if (field === spanId.number) read.spanId = readId(this.#reader.bytes());
    else if (field === parentSpanId?.number) read.parentSpanId = readId(this.#reader.bytes());
    else return false;
    return true;
  }

  /** Adds the attribute that ends at `end` to the map, if it is wanted and has a value. */
  #attribute(end: number, into: Map<string, string>): void {
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
    if (name === '' || valueAt === undefined || !this.#reading.wants(name)) return;
    reader.pos = valueAt;
    const text = this.#value(reader.uint32() + reader.pos, true);
    reader.pos = end;
    if (text !== undefined) into.set(name, text);
  }

  /** An `AnyValue` as text. A list, such as a repeated header, becomes its text values joined with commas. */
  #value(end: number, takesList: boolean): string | undefined {
    let text: string | undefined;
    this.#fields(end, (field, type) => {
      const known = VALUES.get(field);
      if (known === undefined || type !== known.type) return false;
      if (known.read !== undefined) text = known.read(this.#reader);
      else if (field === ARRAY && takesList) text = this.#list(this.#reader.uint32() + this.#reader.pos);
      else {
        text = UNREADABLE;
        return false;
      }
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
    return joinTexts(texts);
  }

  /** Calls `onMessage` with the end of each message in one field. */
  #messages(end: number, wanted: number, onMessage: (end: number) => void): void {
    this.#fields(end, (field, type) => {
      if (field !== wanted || type !== WireType.LengthDelimited) return false;
      onMessage(this.#reader.uint32() + this.#reader.pos);
      return true;
    });
  }

  /** Calls `onField` for each field of the message that ends at `end`, and skips the field if that returns false. */
  #fields(end: number, onField: (field: number, type: WireType) => boolean): void {
    const reader = this.#reader;
    if (end > reader.len) throw new RangeError('ends too early');
    while (reader.pos < end) {
      if (++this.#parts > otlpRecordPartsMax)
        throw new RangeError(`has more than ${otlpRecordPartsMax} fields`);
      const [field, type] = reader.tag();
      if (!onField(field, type)) reader.skip(type, field);
    }
    if (reader.pos !== end) throw new RangeError('has a part that does not end where it should');
  }
}

function readId(bytes: Uint8Array): string {
  const kept = bytes.subarray(0, idCharactersMax);
  return idText(Buffer.from(kept.buffer, kept.byteOffset, kept.byteLength).toString('hex'));
}
