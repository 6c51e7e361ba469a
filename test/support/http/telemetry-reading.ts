/** Reads OTLP with the code of the service, and writes protobuf messages that no encoder would write. */
import { BinaryWriter, WireType } from '@bufbuild/protobuf/wire';
import type { TelemetryRecord } from '../../../src/domain/queries/telemetry.js';
import { readJson } from '../../../src/http/otlp/json.js';
import { readProtobuf } from '../../../src/http/otlp/protobuf.js';
import { LOGS, TRACES } from '../../../src/http/otlp/signals.js';
import { PROTOBUF, type SignalName, type Type } from './telemetry.js';

const signals = { traces: TRACES, logs: LOGS };
export const wants = (attribute: string) => !attribute.startsWith('unwanted');

/** The records that have an attribute that is read. Others cannot be queries. */
export function read(signal: SignalName, type: Type, body: Uint8Array): TelemetryRecord[] {
  const records: TelemetryRecord[] = [];
  const reading = { wants, onRecord: (record: TelemetryRecord) => void records.push(record) };
  if (type === PROTOBUF) readProtobuf(body, signals[signal], reading);
  else readJson(JSON.parse(Buffer.from(body).toString()), signals[signal], reading);
  return records.filter(({ attributes }) => attributes.size > 0);
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
