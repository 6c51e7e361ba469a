/** Real SDKs, as teams use them, which export spans to a server with its default settings. A row per setup. */
import type { Row } from './row.js';

export interface Scenario extends Omit<Row, 'count'> {
  /** The file below `scenarios`, its function, and the variant. */
  readonly run: readonly string[];
  readonly env?: Readonly<Record<string, string>>;
}

const inSpan = 'start a span around the steps of a question, or write the same id on each of them';
const stopped = 'pass abortSignal: request.signal, or call result.consumeStream()';
const unended = 'start a span with caller_stats.id: the package never ends the span of such a call';

/** Makes rows of one setup and variant of a program below `scenarios`. */
function rowsOf(name: string, program: string, variant: string) {
  return (setup: string, scenario: string, correct: number, more: Partial<Scenario> = {}): Scenario => ({
    setup: `${name}: ${setup}`,
    run: [program, scenario, variant],
    correct,
    ...more,
  });
}

const versions = ['5', '6', '7', '7-legacy'];
const nameOf = (version: string) => `AI SDK ${version.replace('-', ', ')}`;

const aiSdk = versions.flatMap((version): Scenario[] => {
  const row = rowsOf(nameOf(version), 'ai-sdk', version);
  return [
    row('generateText', 'generateText', 1),
    row('streamText', 'streamText', 1),
    row('generateObject', 'generateObject', 1),
    row('streamObject', 'streamObject', 1),
    row('tools', 'tools', 1),
    row('agent with a tool', 'agent', 1),
    row('an agent as the tool of another', 'subAgent', 1),
    row('embed only', 'embed', 0),
    row('interrupted, with abortSignal', 'interrupted', 1),
    // Version 7 ends the span of the model's call all the same.
    row(
      'interrupted, without it',
      'abandoned',
      1,
      version === '7' ? {} : { unaided: { counted: 0, help: stopped } },
    ),
    row('the provider fails', 'failing', 1),
    row('with the id of the message', 'withMessageId', 1),
    row('the same message twice', 'postedTwice', 1),
    row('a tool in the browser', 'clientTool', 1),
    row('rewrite, embed, answer, title', 'retrieval', 1, { unaided: { counted: 3, help: inSpan } }),
    row('the same with an id', 'retrievalWithId', 1),
    row('the same in a span', 'retrievalInSpan', 1),
  ];
});

const http = [...versions, 'traceloop', 'openinference'].flatMap((variant): Scenario[] => {
  const name = versions.includes(variant) ? nameOf(variant) : `OpenAI client, ${variant}`;
  const row = rowsOf(`HTTP, ${name}`, 'http', variant);
  return [
    row('rewrite, embed, answer, title', 'retrieval', 1),
    row('a tool', 'tools', 1),
    ...(versions.includes(variant)
      ? [
          row('three questions share a traceparent', 'sharedTraceparent', 3),
          row('the same message twice', 'postedTwice', 1),
        ]
      : []),
  ];
});

const openAi = ['traceloop', 'openinference'].flatMap((variant): Scenario[] => {
  const row = rowsOf(`OpenAI client, ${variant}`, 'openai', variant);
  return [
    row('chat completion', 'chat', 1),
    row('streamed', 'chatStream', 1),
    row('response', 'responses', 1),
    row('streamed response', 'responsesStream', 1),
    row('a tool', 'tools', 1, { unaided: { counted: 2, help: inSpan } }),
    row(
      'interrupted',
      'interrupted',
      1,
      variant === 'traceloop' ? { unaided: { counted: 0, help: unended } } : {},
    ),
    row('the provider fails', 'failing', 1, { unaided: { counted: 0, help: unended } }),
  ];
});

const langChain = ['openinference', 'traceloop'].flatMap((variant): Scenario[] => {
  const row = rowsOf(`LangChain, ${variant}`, 'langchain', variant);
  const loose = variant === 'traceloop' ? { unaided: { counted: 2, help: inSpan } } : {};
  return [
    row('model', 'call', 1),
    row('chain', 'chain', 1),
    row('streamed chain', 'chainStream', 1),
    row('agent with a tool', 'agent', 1, loose),
    row('the same in a span', 'agentInSpan', 1),
    row('the provider fails', 'failing', 1),
  ];
});

const agents = ['responses', 'chat'].flatMap((variant): Scenario[] => {
  const row = rowsOf(`OpenAI Agents, ${variant}`, 'agents', variant);
  return [
    row('answer', 'answer', 1),
    row('a tool', 'tools', 1),
    row('streamed', 'stream', 1),
    row('handoff', 'handoff', 1),
    row('an agent as the tool of another', 'subAgent', 1),
    row('the provider fails', 'failing', 1),
    row('two runs in a trace', 'wrapped', 1),
  ];
});

const next = ['chat6', 'chat7'].flatMap((route): Scenario[] => {
  const row = rowsOf(`Next, @vercel/otel, AI SDK ${route.slice(-1)}`, 'next', route);
  return [
    row('a page, then a question with rewrite, embed, answer', 'pageAndQuestion', 1),
    row('three questions share a traceparent', 'sharedTraceparent', 3),
    row('the same message twice', 'postedTwice', 1),
    row('interrupted, with abortSignal', 'interrupted', 1),
  ];
});

const traceloop: readonly Scenario[] = [
  { setup: 'OpenLLMetry: chat completion', run: ['traceloop', 'call'], correct: 1 },
  { setup: 'OpenLLMetry: a workflow of a task and an agent', run: ['traceloop', 'workflow'], correct: 1 },
];

const mastra: readonly Scenario[] = [
  { setup: 'Mastra: an agent', run: ['mastra', 'answer'], correct: 1 },
  { setup: 'Mastra: streamed', run: ['mastra', 'stream'], correct: 1 },
  { setup: 'Mastra: interrupted, with abortSignal', run: ['mastra', 'interrupted'], correct: 1 },
  { setup: 'Mastra: a tool', run: ['mastra', 'tools'], correct: 1 },
  { setup: 'Mastra: an agent as the tool of another', run: ['mastra', 'subAgent'], correct: 1 },
  { setup: 'Mastra: the provider fails', run: ['mastra', 'failing'], correct: 1 },
  { setup: 'Mastra: the same message twice, with its id', run: ['mastra', 'postedTwice'], correct: 1 },
];

const langfuse: readonly Scenario[] = [
  { setup: 'Langfuse: chat completion of its OpenAI client', run: ['langfuse', 'chat'], correct: 1 },
  { setup: 'Langfuse: embed only', run: ['langfuse', 'embed'], correct: 0 },
  { setup: 'Langfuse: rewrite, embed, answer in an agent', run: ['langfuse', 'agent'], correct: 1 },
  { setup: 'Langfuse: the provider fails in an agent', run: ['langfuse', 'failing'], correct: 1 },
  { setup: 'Langfuse: the same message twice, with its id', run: ['langfuse', 'postedTwice'], correct: 1 },
];

const voltAgent: readonly Scenario[] = [
  { setup: 'VoltAgent: an agent', run: ['voltagent', 'answer'], correct: 1 },
  { setup: 'VoltAgent: streamed', run: ['voltagent', 'stream'], correct: 1 },
  { setup: 'VoltAgent: interrupted, with abortSignal', run: ['voltagent', 'interrupted'], correct: 1 },
  {
    setup: 'VoltAgent: interrupted, without it',
    run: ['voltagent', 'abandoned'],
    correct: 1,
    unaided: { counted: 0, help: 'pass abortSignal: request.signal' },
  },
  { setup: 'VoltAgent: a tool', run: ['voltagent', 'tools'], correct: 1 },
  { setup: 'VoltAgent: an agent as the tool of another', run: ['voltagent', 'subAgent'], correct: 1 },
  { setup: 'VoltAgent: the provider fails', run: ['voltagent', 'failing'], correct: 1 },
  {
    setup: 'VoltAgent: the same message twice, in spans with its id',
    run: ['voltagent', 'postedTwice'],
    correct: 1,
  },
];

const genkit: readonly Scenario[] = [
  { setup: 'Genkit: generate', run: ['genkit', 'generate'], correct: 1 },
  { setup: 'Genkit: streamed', run: ['genkit', 'stream'], correct: 1 },
  { setup: 'Genkit: interrupted, with abortSignal', run: ['genkit', 'interrupted'], correct: 1 },
  { setup: 'Genkit: a tool', run: ['genkit', 'tools'], correct: 1 },
  { setup: 'Genkit: rewrite, embed, answer in a flow', run: ['genkit', 'flow'], correct: 1 },
  { setup: 'Genkit: embed only', run: ['genkit', 'embed'], correct: 0 },
  { setup: 'Genkit: the provider fails', run: ['genkit', 'failing'], correct: 1 },
];

const plain = [
  ...[...aiSdk, ...http, ...next, ...openAi, ...traceloop, ...langChain, ...agents],
  ...[...mastra, ...langfuse, ...voltAgent, ...genkit],
];

/** What each of the others has to do, done: its steps are in a span that names the question. */
const aided = plain.flatMap(({ unaided, ...row }): Scenario[] =>
  unaided === undefined
    ? []
    : [{ ...row, setup: `${row.setup}, in a span with caller_stats.id`, env: { QUESTION_SPAN: '1' } }],
);

/** Each span in a request of its own, as soon as it has ended: the span around it comes later. */
const scattered = plain
  .filter(({ run: [, scenario = ''] }) =>
    /^(agent|subAgent|handoff|retrieval|sharedTraceparent|pageAndQuestion)$/.test(scenario),
  )
  .filter(({ unaided }) => unaided === undefined)
  .map(
    (row): Scenario => ({
      ...row,
      setup: `${row.setup}, span by span`,
      env: { OTEL_BSP_MAX_EXPORT_BATCH_SIZE: '1', OTEL_BSP_SCHEDULE_DELAY: '1' },
    }),
  );

export const scenarios: readonly Scenario[] = [...plain, ...aided, ...scattered];
