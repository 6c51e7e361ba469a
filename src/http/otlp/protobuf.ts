/**
 * Reads OTLP requests in protobuf's binary encoding. What is not wanted is stepped over without being looked at: prompts and
 * answers are most of such a request, and no business of ours. Nothing here calls itself, so no depth of nesting does harm.
 */
import { BinaryReader, WireType } from '@bufbuild/protobuf/wire';
import { otlpPartsMax } from '../../domain/limits.js';
import { decodeUtf8 } from '../../domain/queries/lines.js';
import type { Attributes } from '../../domain/queries/telemetry.js';
import { HttpError } from '../errors.js';
import { attributeNameBytesMax, type RecordReader, type Signal, toRecord } from './signals.js';

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

/** What a record that is looked at takes, in fields that are stepped over. */
const partsOfRecord = 10;

/** Hands over every record of a request, in order. `400` for what is no such message, `413` for one
 * of too many fields; records before it were handed over. */
export function readProtobuf(bytes: Uint8Array, signal: Signal, reading: RecordReader): void {
  const reader = new ProtobufReader(bytes, signal, reading);
  try {
    reader.read();
  } catch (error) {
    // What the library throws at bytes that are no message; anything else is a fault of ours.
    if (error instanceof RangeError || (error instanceof Error && error.constructor === Error)) {
      throw new HttpError(400, `The body is not a protobuf message of OTLP: ${error.message}.`);
    }
    throw error;
  }
}

/** Takes a field, and says whether it read it. */
type OnField = (field: number, type: WireType) => boolean;

class ProtobufReader {
  readonly #reader: BinaryReader;
  readonly #signal: Signal;
  readonly #reading: RecordReader;
  #parts = 0;

  constructor(bytes: Uint8Array, signal: Signal, reading: RecordReader) {
    this.#reader = new BinaryReader(bytes, stringSchema);
    this.#signal = signal;
    this.#reading = reading;
  }

  read(): void {
    this.#fields(this.#reader.len, (field, type) => {
      if (field !== RESOURCES || type !== WireType.LengthDelimited) return false;
      this.#ofResource(this.#reader.uint32() + this.#reader.pos);
      return true;
    });
  }

  /** Twice over: the resource may stand behind what it is the resource of. */
  #ofResource(end: number): void {
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
    const { traceId, spanId, times, attributes, eventName } = this.#signal;
    const reader = this.#reader;
    const read = { traceId: '', spanId: '', eventName: '' };
    const timesNs: bigint[] = [];
    // Made only where there is something to put in: there may be millions of empty records.
    let own: Map<string, string> | undefined;
    this.#fields(end, (field, type) => {
      const time = type === WireType.Bit64 ? times.findIndex(({ number }) => number === field) : -1;
      if (time !== -1) timesNs[time] = BigInt(reader.fixed64());
      else if (type !== WireType.LengthDelimited) return false;
      else if (field === attributes.number) own = this.#attribute(reader.uint32() + reader.pos, own);
      else if (field === traceId.number) read.traceId = hexOf(reader.bytes());
      else if (field === spanId.number) read.spanId = hexOf(reader.bytes());
      else if (field === eventName?.number) read.eventName = reader.string();
      else return false;
      return true;
    });
    // Without any attribute that is wanted it is of no use to anybody.
    if (own === undefined && read.eventName === '') return;
    this.#count(partsOfRecord);
    this.#reading.onRecord(toRecord({ ...read, timesNs, attributes: own ?? new Map(), resource }));
  }

  /** Reads the attribute that ends there into the map, if it is wanted and has a value that is text or can be. Gives the map. */
  #attribute<M extends Map<string, string> | undefined>(end: number, into: M): M | Map<string, string> {
    const reader = this.#reader;
    let name = '';
    let valueAt: number | undefined;
    this.#fields(end, (field, type) => {
      if (type !== WireType.LengthDelimited) return false;
      // Where it is, not what it is: that can wait until its name is known.
      if (field === VALUE) valueAt = reader.pos;
      if (field !== KEY) return false;
      const start = reader.pos;
      if (reader.uint32() <= attributeNameBytesMax) {
        reader.pos = start;
        name = reader.string();
        return true;
      }
      reader.pos = start;
      return false;
    });
    if (name === '' || valueAt === undefined || !this.#reading.wants(name)) return into;
    reader.pos = valueAt;
    const text = this.#value(reader.uint32() + reader.pos, true);
    reader.pos = end;
    return text === undefined ? into : (into ?? new Map<string, string>()).set(name, text);
  }

  /** An `AnyValue` as text: of a list, all values that are text, as in a header that was sent twice. */
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

  /** Goes through a message, and hands over the ends of the messages in one of its fields. */
  #messages(end: number, wanted: number, onMessage: (end: number) => void): void {
    this.#fields(end, (field, type) => {
      if (field !== wanted || type !== WireType.LengthDelimited) return false;
      onMessage(this.#reader.uint32() + this.#reader.pos);
      return true;
    });
  }

  /** Before they are read: a body of ten megabytes may have millions, and everybody else waits. */
  #count(parts: number): void {
    this.#parts += parts;
    if (this.#parts > otlpPartsMax) {
      throw new HttpError(
        413,
        `The body has more than ${otlpPartsMax} fields; send fewer ${this.#signal.records} at a time.`,
      );
    }
  }

  /** Goes through the fields of the message that ends there. A part that ends elsewhere is an error. */
  #fields(end: number, onField: OnField): void {
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

function hexOf(bytes: Uint8Array): string {
  return Buffer.from(bytes.buffer, bytes.byteOffset, bytes.byteLength).toString('hex');
}

/** Instead of the library's own, which replaces what is not UTF-8: two different ids would become one. */
function stringSchema(bytes: Uint8Array): string {
  const text = decodeUtf8(bytes);
  if (!text.ok) throw new RangeError('a text in it is not valid UTF-8');
  return text.value;
}
