import { OpenTelemetry } from '@ai-sdk/otel';
import { registerOTel } from '@vercel/otel';
import { registerTelemetry } from 'ai7';

export function register() {
  registerOTel({ serviceName: 'docs-assistant' });
  registerTelemetry(new OpenTelemetry({ runtimeContext: true }));
}
