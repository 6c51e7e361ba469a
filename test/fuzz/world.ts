/** What generated requests use: the server's operations, projects, keys and prepared telemetry. */
import { gzipSync } from 'node:zlib';
import { bodyOf, JSON_TYPE, PROTOBUF, type SignalName, type Type } from '../support/http/telemetry.js';
import { makeSpan, traceNumbers } from './events.js';
import type { Operation } from './operations.js';
import { Random } from './random.js';

/** Projects, by what is recorded into them. */
export const PROJECTS = {
  /** Known queries. */
  events: 'fuzz-events',
  /** Known traces. */
  traces: 'fuzz-traces',
  /** Queries in mutated bodies; the responses say how many were recorded. */
  counted: 'fuzz-counted',
  /** Queries whose number is unknown. */
  uncounted: 'fuzz-uncounted',
} as const;

export interface Keys {
  readonly admin: string;
  readonly readOnly: string;
  /** One for each of these projects. */
  readonly recording: Readonly<Record<'events' | 'counted', string>>;
  readonly revoked: string;
}

export interface TelemetryBody {
  readonly signal: SignalName;
  readonly type: Type;
  readonly traces: readonly number[];
  readonly bytes: Buffer;
  readonly packed: Buffer;
}

export interface World {
  readonly operations: readonly Operation[];
  readonly keys: Keys;
  readonly telemetry: readonly TelemetryBody[];
}

const telemetryBodies = 400;

/** Telemetry from OpenTelemetry's own encoders: known traces, and records that are not queries. */
export function makeTelemetry(seed: number): TelemetryBody[] {
  const random = new Random(seed, telemetryBodies);
  return random.times(telemetryBodies, () => {
    const signal = random.pick(['traces', 'logs'] as const);
    const type = random.pick([JSON_TYPE, PROTOBUF] as const);
    const traces = random.times(1 + random.int(4), () => random.int(traceNumbers));
    const others = random.times(random.int(3), () => ({
      attributes: { 'gen_ai.operation.name': 'embeddings' },
    }));
    const bytes = Buffer.from(bodyOf(signal, type, [...traces.map(makeSpan), ...others]));
    return { signal, type, traces, bytes, packed: gzipSync(bytes, { level: 1 }) };
  });
}
