/** Reads OTLP with the code of the service, and writes protobuf messages that no encoder would write. */
import { BinaryWriter, WireType } from '@bufbuild/protobuf/wire';
import type { TelemetryRecord } from '../../../src/domain/queries/telemetry-record.js';
import { BodyReader } from '../../../src/http/otlp/arriving.js';
import { readJson } from '../../../src/http/otlp/json.js';
import { readProtobuf } from '../../../src/http/otlp/protobuf.js';
import { LOGS, TRACES } from '../../../src/http/otlp/signals.js';
import { PROTOBUF, type SignalName, type Type } from './telemetry.js';

const signals = { traces: TRACES, logs: LOGS };
const wants = (attribute: string) => !attribute.startsWith('unwanted');

export interface ReadBody {
  readonly records: readonly TelemetryRecord[];
  readonly problems: readonly string[];
  /** The most bytes that it kept. */
  readonly held: number;
  /** The most records that were passed on in one turn of the event loop. */
  readonly turn: number;
}

/** All records of a body that arrives in pieces of this size, and the problems of those that cannot be read. */
export function readAll(signal: SignalName, type: Type, body: Uint8Array, pieceBytes = 1 << 14): ReadBody {
  const records: TelemetryRecord[] = [];
  const problems: string[] = [];
  const reading = {
    wants,
    onRead: () => {},
    onRecord: (record: TelemetryRecord) => void records.push(record),
    onUnreadable: (problem: string) => void problems.push(problem),
  };
  let [turn, before] = [0, 0];
  const endTurn = () => {
    turn = Math.max(turn, records.length + problems.length - before);
    before = records.length + problems.length;
  };
  const goOn = (canGoOn: boolean) => {
    endTurn();
    for (let goesOn = canGoOn; goesOn; endTurn()) goesOn = reader.goOn();
  };
  const readRecords = type === PROTOBUF ? readProtobuf : readJson;
  const reader = new BodyReader((arriving) => readRecords(arriving, signals[signal], reading));
  let held = 0;
  for (let at = 0; at < body.length; at += pieceBytes) {
    goOn(reader.add(Buffer.from(body.subarray(at, at + pieceBytes))));
    held = Math.max(held, reader.held);
  }
  goOn(reader.end());
  return { records, problems, held, turn };
}

/** The records that have an attribute that is read. Others cannot be queries. */
export function read(signal: SignalName, type: Type, body: Uint8Array): TelemetryRecord[] {
  return readAll(signal, type, body).records.filter(({ attributes }) => attributes.size > 0);
}

/** What a generator returns. */
export function returned<T>(steps: Generator<undefined, T>): T {
  for (let step = steps.next(); ; step = steps.next()) if (step.done) return step.value;
}

/** A message with these fields. */
export const message = (...fields: [number, Uint8Array][]) =>
  fields
    .reduce(
      (writer, [number, bytes]) => writer.tag(number, WireType.LengthDelimited).bytes(bytes),
      new BinaryWriter(),
    )
    .finish();
export const bytes = (...values: number[]) => Uint8Array.from(values);
