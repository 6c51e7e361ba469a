/** Traces: the library is loaded only where OpenTelemetry's variables name somewhere to send them. */
import type { Tracing, TracingOptions } from '../../observability/tracing/tracing.js';
import type { TracingSettings } from '../settings/server-settings.js';

export async function openTracing(
  settings: TracingSettings | undefined,
  options: Omit<TracingOptions, 'protocol'>,
): Promise<Tracing | undefined> {
  if (settings === undefined) return undefined;
  const { startTracing } = await import('../../observability/tracing/tracing.js');
  return startTracing({ ...settings, ...options });
}
