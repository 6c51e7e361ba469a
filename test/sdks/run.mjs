/** Runs a scenario and exports all of its spans: `node run.mjs ai-sdk generateText 7`. The variant comes last. */
import { exportSpans } from './support/telemetry.mjs';

const [file, scenario] = process.argv.slice(2);
const scenarios = await import(`./scenarios/${file}.mjs`);
await scenarios[scenario]();
// What goes on after an answer, such as the rest of an interrupted stream, ends its spans, too.
await new Promise((resolve) => setTimeout(resolve, 100));
await exportSpans();
process.exit(0);
