/** What the assistants do. The first word of a question says which scenario it is. */
import { setTimeout as wait } from 'node:timers/promises';
import { trace } from '@opentelemetry/api';

/** Searches the documentation. */
export async function search() {
  // Longer than the exporter waits: what came before is sent while the tool runs.
  await wait(Number(process.env.TOOL_MS));
  return 'npm install';
}

export function answers({ ask, stream, tool, team }) {
  const writeTitle = (question) => {
    const attributes = { 'caller_stats.ignore': true };
    return trace.getTracer('assistant').startActiveSpan('title', { attributes }, async (span) => {
      await ask(`A title for: ${question}`);
      span.end();
    });
  };
  return async function* answer(question) {
    const [scenario] = question.split(' ');
    if (scenario === 'stream') yield* stream(question);
    else if (scenario === 'title') {
      const titling = writeTitle(question);
      yield await ask(question);
      await titling;
    } else yield await ({ tool, team }[scenario] ?? ask)(question);
  };
}
