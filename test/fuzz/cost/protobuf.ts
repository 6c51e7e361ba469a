/** Writes the values of OTLP requests in protobuf, with every field and value that JSON may have. */
import { BinaryWriter, WireType } from '@bufbuild/protobuf/wire';
import { Big, isNumbered, longText, numbered, TooLarge, type Tree, textMax, toJson } from './tree.js';

/** A message by name, or how a number or text is written. */
type Kind = string;

const ANY = {
  stringValue: [1, 'text'],
  boolValue: [2, 'varint'],
  intValue: [3, 'varint'],
  doubleValue: [4, 'double'],
  arrayValue: [5, 'list'],
  kvlistValue: [6, 'list'],
} as const;
const RECORD = {
  attributes: [9, 'attribute'],
  traceId: [1, 'hex'],
  spanId: [2, 'hex'],
  parentSpanId: [4, 'hex'],
  kind: [6, 'varint'],
  startTimeUnixNano: [7, 'fixed64'],
  flags: [16, 'fixed32'],
} as const;
const MESSAGES: Readonly<Record<string, Readonly<Record<string, readonly [field: number, kind: Kind]>>>> = {
  request: { resourceSpans: [1, 'resources'], resourceLogs: [1, 'resources'] },
  resources: { resource: [1, 'resource'], scopeSpans: [2, 'scope'], scopeLogs: [2, 'scope'] },
  resource: { attributes: [1, 'attribute'] },
  scope: { spans: [2, 'span'], logRecords: [2, 'log'] },
  span: RECORD,
  log: {
    timeUnixNano: [1, 'fixed64'],
    attributes: [6, 'attribute'],
    traceId: [9, 'hex'],
    spanId: [10, 'hex'],
    eventName: [12, 'text'],
  },
  attribute: { key: [1, 'text'], value: [2, 'any'] },
  any: ANY,
  list: { values: [1, 'any'] },
};

/** A field that no message has. */
const UNKNOWN: readonly [number, Kind] = [90, 'text'];

/** Around one another, more take long to write. */
const levelsMax = 5000;

export function toProtobuf(tree: Tree): Buffer {
  const writer = new BinaryWriter();
  writeMembers(writer, tree, 'request', 1);
  return Buffer.from(writer.finish());
}

function writeMembers(writer: BinaryWriter, tree: Tree, message: string, number: number): void {
  if (typeof tree !== 'object' || tree === null || tree instanceof Big || Array.isArray(tree)) return;
  for (const [name, value] of Object.entries(tree as Readonly<Record<string, Tree>>)) {
    const fields = MESSAGES[message] ?? {};
    const [field, kind] = (Object.hasOwn(fields, name) ? fields[name] : undefined) ?? UNKNOWN;
    writeField(writer, field, kind, value, number);
  }
}

function writeField(writer: BinaryWriter, field: number, kind: Kind, value: Tree, number: number): void {
  if (Array.isArray(value))
    for (const item of value as readonly Tree[]) writeField(writer, field, kind, item, number);
  else if (value instanceof Big) writeBig(writer, field, kind, value, number);
  else if (typeof value === 'object' && value !== null) {
    writer.tag(field, WireType.LengthDelimited).fork();
    writeMembers(writer, value as Tree, kind, number);
    writer.join();
  } else if (value !== null) writeScalar(writer, field, kind, value, number);
}

function writeBig(writer: BinaryWriter, field: number, kind: Kind, big: Big, number: number): void {
  const { shape, of, count } = big;
  if (shape === 'text') writeScalar(writer, field, kind, longText(big), number);
  else if (shape === 'arrays' || shape === 'objects') {
    let bytes = bytesOf(field, kind, of, number);
    for (let level = 0; level < Math.min(count, levelsMax); level++)
      bytes = new BinaryWriter().tag(1, WireType.LengthDelimited).bytes(bytes).finish();
    writer.tag(field, WireType.LengthDelimited).bytes(bytes);
  } else {
    const json = toJson(of);
    if (json.length * count > textMax) throw new TooLarge();
    if (!isNumbered(json)) writeCopies(writer, bytesOf(field, kind, of, number), count);
    else for (let at = 1; at <= count; at++) writeField(writer, field, kind, of, at);
  }
}

function bytesOf(field: number, kind: Kind, value: Tree, number: number): Uint8Array {
  const writer = new BinaryWriter();
  writeField(writer, field, kind, value, number);
  return writer.finish();
}

function writeCopies(writer: BinaryWriter, bytes: Uint8Array, count: number): void {
  if (bytes.length * count > textMax) throw new TooLarge();
  if (bytes.length > 0) writer.raw(Buffer.alloc(bytes.length * count, bytes));
}

function writeScalar(
  writer: BinaryWriter,
  field: number,
  kind: Kind,
  value: string | number | boolean,
  number: number,
): void {
  if (typeof value === 'string' && kind !== 'fixed64') {
    const text = numbered(value, number);
    const bytes = kind === 'hex' ? Buffer.from(text, 'hex') : Buffer.from(text);
    writer.tag(field, WireType.LengthDelimited).bytes(bytes);
    return;
  }
  const whole = Math.trunc(Number(value)) || 0;
  if (kind === 'double') writer.tag(field, WireType.Bit64).double(Number(value));
  else if (kind === 'fixed64')
    writer
      .tag(field, WireType.Bit64)
      .fixed64(BigInt.asUintN(64, BigInt(Number.isFinite(whole) ? whole : 0)).toString());
  else if (kind === 'fixed32') writer.tag(field, WireType.Bit32).fixed32(Math.abs(whole) % 2 ** 32);
  else
    writer
      .tag(field, WireType.Varint)
      .int64(BigInt.asIntN(64, BigInt(Number.isFinite(whole) ? whole : 0)).toString());
}
