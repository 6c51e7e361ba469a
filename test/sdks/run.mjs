/** Runs a scenario and exports all of its spans: `node run.mjs ai-sdk generateText 7`. The variant comes last. */
import { randomUUID } from 'node:crypto';
import { trace } from '@opentelemetry/api';
import { exportSpans, spansEnded } from './support/telemetry.mjs';

const [file, scenario] = process.argv.slice(2);
const scenarios = await import(`./scenarios/${file}.mjs`);
const attributes = { 'caller_stats.id': randomUUID() };
if (process.env['QUESTION_SPAN'] === undefined) await scenarios[scenario]();
else
  await trace.getTracer('docs-assistant').startActiveSpan('question', { attributes }, async (span) => {
    await scenarios[scenario]();
    span.end();
  });
await spansEnded();
// Spans of providers that others register, such as Next, are not known.
await new Promise((resolve) => setTimeout(resolve, 100));
await (scenarios.exportSpans ?? exportSpans)();
process.exit(0);
