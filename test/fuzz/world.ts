/** What requests are made for: a server's operations, projects and keys, and bodies that took a while to make. */
import { gzipSync } from 'node:zlib';
import { bodyOf, JSON_TYPE, PROTOBUF, type SignalName, type Type } from '../support/telemetry.js';
import { spanOf, traceNumbers } from './events.js';
import type { Operation } from './operations.js';
import { Random } from './random.js';

/** Projects by what is recorded into them. */
export const PROJECTS = {
  /** Known queries, which are counted by their numbers. */
  events: 'fuzz-events',
  /** Known traces. */
  traces: 'fuzz-traces',
  /** Whatever the server takes of changed bodies; its answers say how much. */
  counted: 'fuzz-counted',
  /** What nobody counts, since nobody can know whether it arrived. */
  uncounted: 'fuzz-uncounted',
} as const;

export interface Keys {
  readonly admin: string;
  readonly readOnly: string;
  /** Each bound to its project. */
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

/** Telemetry as OpenTelemetry's own encoders write it: known traces, and records beside them that are no queries. */
export function makeTelemetry(seed: number): TelemetryBody[] {
  const random = new Random(seed, telemetryBodies);
  return random.times(telemetryBodies, () => {
    const signal = random.pick(['traces', 'logs'] as const);
    const type = random.pick([JSON_TYPE, PROTOBUF] as const);
    const traces = random.times(1 + random.int(4), () => random.int(traceNumbers));
    const others = random.times(random.int(3), () => ({ attributes: { 'gen_ai.operation.name': 'chat' } }));
    const bytes = Buffer.from(bodyOf(signal, type, [...traces.map(spanOf), ...others]));
    return { signal, type, traces, bytes, packed: gzipSync(bytes, { level: 1 }) };
  });
}
