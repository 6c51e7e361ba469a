/** Traces, where OpenTelemetry's own variables name somewhere to send them to; else nothing of it is loaded. */
import { quote } from '../../domain/result.js';
import type { TraceProtocol, Tracing, TracingOptions } from '../../observability/tracing/tracing.js';
import { UsageError } from '../io.js';
import { type Environment, webAddress } from '../settings/setting.js';

/** The variables that say where to; the first is for all signals. */
const ENDPOINTS = ['OTEL_EXPORTER_OTLP_ENDPOINT', 'OTEL_EXPORTER_OTLP_TRACES_ENDPOINT'] as const;
/** Those that say how; the first that is set counts. */
const PROTOCOLS_GIVEN = ['OTEL_EXPORTER_OTLP_TRACES_PROTOCOL', 'OTEL_EXPORTER_OTLP_PROTOCOL'] as const;

const PROTOCOLS: readonly TraceProtocol[] = ['http/protobuf', 'http/json'];

export interface TracingSettings {
  readonly protocol: TraceProtocol;
}

/** Undefined where no traces are wanted. `UsageError` for an address or a protocol that cannot be. */
export function tracingSettingsOf(env: Environment): TracingSettings | undefined {
  const endpoints = ENDPOINTS.filter((name) => isSet(env[name]));
  const off = env['OTEL_SDK_DISABLED']?.toLowerCase() === 'true' || env['OTEL_TRACES_EXPORTER'] === 'none';
  if (off || endpoints.length === 0) return undefined;
  const bad = endpoints.filter((name) => !webAddress(env[name] ?? '').ok);
  // Not shown: such an address may have a password in it.
  const problems = bad.map((name) => `${name}: is not an address that begins with https:// or http://`);
  const source = PROTOCOLS_GIVEN.find((name) => isSet(env[name]));
  const given = source === undefined ? PROTOCOLS[0] : env[source];
  const protocol = PROTOCOLS.find((one) => one === given);
  if (protocol === undefined)
    problems.push(`${source}: ${quote(given ?? '')} is not spoken here; choose ${PROTOCOLS.join(' or ')}`);
  if (protocol === undefined || problems.length > 0) throw new UsageError(problems);
  return { protocol };
}

function isSet(text: string | undefined): boolean {
  return text !== undefined && text !== '';
}

export async function openTracing(
  settings: TracingSettings | undefined,
  options: Omit<TracingOptions, 'protocol'>,
): Promise<Tracing | undefined> {
  if (settings === undefined) return undefined;
  const { startTracing } = await import('../../observability/tracing/tracing.js');
  return startTracing({ ...settings, ...options });
}
