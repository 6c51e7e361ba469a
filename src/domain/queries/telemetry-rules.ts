/**
 * What the instrumentations of assistants write, as data: which spans belong to a query, and where they name it.
 *
 * Spans of agents and those of the model calls inside them are all listed, because they share their query's identity.
 * Not listed are spans that only search, embed or run a tool: they occur without any query.
 */

/** A condition on the name of a span, for instrumentation that writes no attribute that tells. */
export const SPAN_NAME = 'span.name';

/** A record meets it if it has this attribute with one of these values, or with any value if there are none. */
export interface Condition {
  readonly attribute: string;
  readonly values: readonly string[];
}

/** A record belongs to a query if it meets this condition, and all those joined with it. */
export interface QueryRule extends Condition {
  readonly and?: readonly Condition[];
}

export function conditionsOf(rule: QueryRule): readonly Condition[] {
  return [rule, ...(rule.and ?? [])];
}

export function matchesRules(attributes: ReadonlyMap<string, string>, rules: readonly QueryRule[]): boolean {
  return rules.some(({ attribute, values }) => {
    const value = attributes.get(attribute);
    return value !== undefined && (values.length === 0 || values.includes(value));
  });
}

interface KnownRule extends QueryRule {
  /** What writes these, with the versions it was tried with, and the day. */
  readonly source: string;
}

/** The attribute with which an application names a query. Whatever has it belongs to a query. */
const ID_ATTRIBUTE = 'caller_stats.id';

/** What runs a query in LlamaIndex: its own tracer names spans `FunctionAgent.run`, and OpenLLMetry `FunctionAgent.workflow`. */
const LLAMA_INDEX: readonly string[] = [
  ...['Retriever', 'Router', 'SubQuestion', 'Citation', 'MultiStep', 'Transform', 'Custom'].map(
    (one) => `${one}QueryEngine`,
  ),
  ...['Simple', 'Context', 'CondenseQuestion', 'CondensePlusContext'].map((one) => `${one}ChatEngine`),
  ...['FunctionAgent', 'ReActAgent', 'CodeActAgent', 'AgentWorkflow'],
].flatMap((name) =>
  ['query', 'aquery', 'chat', 'achat', 'stream_chat', 'astream_chat', 'run', 'workflow'].map(
    (method) => `${name}.${method}`,
  ),
);

export const KNOWN_RULES: readonly KnownRule[] = [
  {
    source: 'The application itself.',
    attribute: ID_ATTRIBUTE,
    values: [],
  },
  {
    source:
      "OpenTelemetry's GenAI conventions: ai 7.0.173 with @ai-sdk/otel 1.0.173, @traceloop/instrumentation-openai 0.27.0 and " +
      '-langchain 0.27.0, langsmith 0.12.0, @mastra/core 1.71.0 with @mastra/otel-exporter 1.4.0 (2026-11-23).',
    attribute: 'gen_ai.operation.name',
    values: ['invoke_agent', 'invoke_workflow', 'chat', 'generate_content', 'text_completion'],
  },
  {
    source:
      'Semantic Kernel for .NET, Java and Python, by its sources (2026-11-28), and dd-trace 6.21 with OTLP (2026-11-26).',
    attribute: 'gen_ai.operation.name',
    values: [
      ...['chat.completions', 'chat.streaming_completions', 'text.completions', 'text.streaming_completions'],
      ...['text_completions', 'llm'],
    ],
  },
  {
    source:
      "Model calls that do not name their operation, once they have an answer: LangChain4j's in Quarkus, and InvokeModel of Amazon " +
      'Bedrock in JavaScript; by their sources (2026-11-28).',
    attribute: 'gen_ai.response.finish_reasons',
    values: [],
  },
  {
    source: "Alibaba's conventions, which Dify writes, too; by its source (2026-11-28).",
    attribute: 'gen_ai.span.kind',
    values: ['AGENT', 'LLM'],
  },
  {
    source: "MLflow's own tracing, whose values are JSON; by its documentation (2026-11-28).",
    attribute: 'mlflow.spanType',
    values: ['AGENT', 'CHAT_MODEL', 'LLM', '"AGENT"', '"CHAT_MODEL"', '"LLM"'],
  },
  {
    source:
      "Logfire's own instrumentation of OpenAI and Anthropic before it named operations; by its source (2026-11-28).",
    attribute: SPAN_NAME,
    values: [
      ...['Chat Completion', 'Completion', 'Message', 'Responses API'].map(
        (what) => `${what} with {request_data[model]!r}`,
      ),
      'Responses API with {gen_ai.request.model!r}',
    ],
  },
  {
    source:
      'Azure AI Agents: azure-ai-agents 1.1.0, by its source (2026-11-27). Each run of a thread has one of them.',
    attribute: 'gen_ai.operation.name',
    values: ['start_thread_run', 'process_thread_run'],
  },
  {
    source: "LiteLLM 1.92's own telemetry, of its SDK and its proxy (2026-11-26).",
    attribute: 'gen_ai.operation.name',
    values: [
      ...['completion', 'acompletion', 'atext_completion', 'responses', 'aresponses', 'anthropic_messages'],
      ...['agenerate_content', 'generate_content_stream', 'agenerate_content_stream'],
    ],
  },
  {
    source: 'Claude Code and the Claude Agent SDK with its traces (beta); by its documentation (2026-11-27).',
    attribute: SPAN_NAME,
    values: ['claude_code.interaction'],
  },
  {
    source: 'LlamaIndex for Python and TypeScript (2026-11-26).',
    attribute: SPAN_NAME,
    values: [...LLAMA_INDEX, 'retriever_query_engine.query', 'context_chat_engine.chat'],
  },
  {
    source: "Google's ADK for Python of 2025, on calls of models and tools; by its documentation.",
    attribute: 'gen_ai.system',
    values: ['gcp.vertex.agent'],
  },
  {
    source: "Haystack's own tracer and opentelemetry-haystack 2.0.0 (2026-11-26), on the run of an agent.",
    attribute: 'haystack.agent.max_steps',
    values: [],
  },
  {
    source: "Haystack's generators; by its documentation.",
    attribute: 'haystack.component.type',
    values: [
      ...['Agent', 'OpenAIChatGenerator', 'OpenAIGenerator', 'OpenAIResponsesChatGenerator'],
      ...['AzureOpenAIChatGenerator', 'AzureOpenAIGenerator', 'AzureOpenAIResponsesChatGenerator'],
      ...['HuggingFaceAPIChatGenerator', 'HuggingFaceAPIGenerator', 'HuggingFaceLocalChatGenerator'],
      ...['HuggingFaceLocalGenerator', 'FallbackChatGenerator', 'AnthropicChatGenerator'],
      ...['AnthropicGenerator', 'MistralChatGenerator', 'CohereChatGenerator', 'OllamaChatGenerator'],
      ...['AmazonBedrockChatGenerator', 'GoogleGenAIChatGenerator', 'GoogleAIGeminiChatGenerator'],
      ...['VertexAIGeminiChatGenerator', 'LlamaCppChatGenerator', 'OpenRouterChatGenerator'],
    ],
  },
  {
    source: 'ai 5.0.277, ai 6.0.326, LegacyOpenTelemetry of @ai-sdk/otel 1.0.173 (2026-11-23).',
    attribute: 'ai.operationId',
    values: ['ai.generateText', 'ai.streamText', 'ai.generateObject', 'ai.streamObject'],
  },
  {
    source:
      'OpenInference: @arizeai/openinference-instrumentation-openai 4.2.7, -openai-agents 0.2.15 and -langchain 4.1.1 ' +
      '(2026-11-23). Its kind CHAIN also marks turns, prompts and parsers.',
    attribute: 'openinference.span.kind',
    values: ['AGENT', 'LLM'],
  },
  {
    source: "Traceloop's OpenLLMetry before it wrote the GenAI conventions; by its documentation.",
    attribute: 'llm.request.type',
    values: ['chat', 'completion'],
  },
  {
    source:
      'Langfuse: @langfuse/tracing 5.11.1 (2026-11-23). Its type generation also marks the embeddings that @langfuse/openai ' +
      'observes (see `isEmbedding`).',
    attribute: 'langfuse.observation.type',
    values: ['agent', 'generation'],
  },
  {
    source: 'VoltAgent: @voltagent/core 2.10.0 (2026-11-23), on the span of each run of an agent.',
    attribute: 'voltagent.operation_id',
    values: [],
  },
  {
    source: 'Genkit: genkit 1.42.0 (2026-11-23).',
    attribute: 'genkit:metadata:subtype',
    values: ['model'],
  },
];

/** Model calls and runs of agents. */
export const CALL_RULES: readonly QueryRule[] = KNOWN_RULES.filter(
  ({ attribute }) => attribute !== ID_ATTRIBUTE,
);

/** The current name in the semantic conventions, the previous one, and Micrometer's, which Spring Boot writes. */
export const HTTP_METHODS: readonly string[] = ['http.request.method', 'http.method', 'method'];

/** A message that is delivered again: the current name in the semantic conventions, and the previous one. */
const MESSAGE_IDS: readonly string[] = ['messaging.message.id', 'messaging.message_id'];

/** The ids of runs that no other run ever has, if they are long: Inngest's, Vercel Workflow's, and those of messages. */
const UNIQUE_RUN_IDS: readonly string[] = ['sdk.run.id', 'workflow.run.id', ...MESSAGE_IDS];

/** The id of what an agent of LiveKit says to one message, in several turns if it calls tools. */
const SPEECH_ID = 'lk.speech_id';
const PIPECAT_TURN = 'turn.number';

/** What tells that a span is a turn of a voice agent, whose whole conversation is one trace: LiveKit's and Pipecat's, by their sources (2026-11-27). */
export const TURN_ATTRIBUTES: readonly string[] = [SPEECH_ID, PIPECAT_TURN];

export function isTurn(name: string, attributes: ReadonlyMap<string, string>): boolean {
  return (
    (name === 'turn' && attributes.has(PIPECAT_TURN)) || (name === 'agent_turn' && attributes.has(SPEECH_ID))
  );
}

/** Attributes that name a run of a workflow, or a message, on each of its steps, also on those that are repeated. */
export const RUN_IDS: readonly string[] = [
  // Temporal's SDKs for Python and Go, and its SDK for TypeScript.
  'temporalWorkflowID',
  'temporalWorkflowId',
  // Azure's Durable Functions, and Dapr's workflows.
  'durabletask.task.instance_id',
  ...UNIQUE_RUN_IDS,
  'bullmq.job.id',
  SPEECH_ID,
];

/** What consumes messages of its own process: AutoGen's and Semantic Kernel's runtimes of agents, by the names of their spans. */
export function isStepInProcess(name: string): boolean {
  return /^(autogen|agent_runtime) /.test(name);
}

/** The event of a span of ASGI's instrumentation. */
export const ASGI_EVENT = 'asgi.event.type';
const ASGI_MESSAGE = 'websocket.receive';

/** Whether a span waits for a message over a WebSocket: of Starlette, FastAPI and all others with ASGI's instrumentation. */
export function waitsForMessage(name: string): boolean {
  return / websocket receive$/.test(name);
}

/** Whether what such a span got is a message, as opposed to the beginning or the end of the connection. */
export function gotMessage(span: {
  readonly endNs?: bigint | undefined;
  readonly attributes: ReadonlyMap<string, string>;
}): boolean {
  return Boolean(span.endNs) && (span.attributes.get(ASGI_EVENT) ?? ASGI_MESSAGE) === ASGI_MESSAGE;
}

/** The names of the spans of steps of Temporal's workflows. */
export const STEP_NAME = /^(RunActivity|RunWorkflow|HandleSignal|HandleUpdate):/;

/**
 * The routes by which a gateway gets calls of models (OpenAI's, Anthropic's, Google's, Bedrock's), and the workers of Inngest and
 * Vercel Workflow their steps, at the end of a route or of a span's name.
 */
export const STEP_ROUTE =
  /(\/(chat\/completions|(v1|openai)\/(completions|messages|responses)|engines\/[^/]+\/completions|converse(-stream)?|inngest|\.well-known\/workflow\/v1\/(flow|step))|:(streamG|g)enerateContent)$/;

/** The current name in the semantic conventions, and the previous one. */
export const RPC_SYSTEMS: readonly string[] = ['rpc.system.name', 'rpc.system'];

/**
 * The run that answers one question in several traces. Semantic Kernel has agents whose names end in the id of the run, and each
 * message to them is a trace.
 */
export function agentRunOf({
  name,
  attributes,
}: {
  readonly name: string;
  readonly attributes: ReadonlyMap<string, string>;
}): string | undefined {
  return (
    /^agent_runtime process \S*_([0-9a-f]{32})\./.exec(name)?.[1] ??
    UNIQUE_RUN_IDS.map((one) => attributes.get(one)).find((id) => id !== undefined && isRunId(id))
  );
}

function isRunId(id: string): boolean {
  return /^[\w-]{16,64}$/.test(id);
}

export const USER_AGENTS: readonly string[] = ['user_agent.original', 'http.user_agent'];

export const HTTP_STATUSES: readonly string[] = ['http.response.status_code', 'http.status_code', 'status'];

/** The current name of an attribute and the previous one. A condition on either reads both. */
export function namesOf(attribute: string): readonly string[] {
  const all = [HTTP_METHODS, HTTP_STATUSES, RPC_SYSTEMS, USER_AGENTS];
  return all.find((names) => names.includes(attribute)) ?? [attribute];
}

/** Rules of these attributes accept no request that cannot ask, such as OPTIONS, or that was refused. */
export const [ROUTE, PATH] = ['http.route', 'url.path'] as const;
export const ROUTES: readonly string[] = [ROUTE, PATH];
/** Micrometer's name of the route of a request to a server. */
export const URI = 'uri';
/** The previous name of the path in the semantic conventions, with the query string. */
export const TARGET = 'http.target';
/** Of requests to an MCP server, only those that call a tool ask. The header is that of its newest revision. */
export const MCP_METHODS: readonly string[] = ['mcp.method.name', 'http.request.header.mcp-method'];
export const ASKING_METHODS: readonly string[] = ['POST', 'PUT', 'PATCH'];

/** From version 5 of its Python package on, a value is JSON: a text has quotation marks. */
export const LANGFUSE_METADATA = 'langfuse.trace.metadata.';

export const LANGFUSE_MODEL = 'langfuse.observation.model.name';

/** Whether an observation of Langfuse is the embedding of a text, by its name or that of its model. */
export function isEmbedding(name: string, attributes: ReadonlyMap<string, string>): boolean {
  const isCall = attributes.get('langfuse.observation.type') === 'generation';
  return isCall && /embed/i.test(`${name} ${attributes.get(LANGFUSE_MODEL)}`);
}

/** The first span of a service that Langfuse exports. It drops those above, such as that of the server, unless it is told otherwise. */
export const LANGFUSE_ROOT = 'langfuse.internal.is_app_root';

/** The name of the client of an MCP server, as it names itself. */
export const MCP_CLIENT = 'mcp.client.name';

/** What an application tells an SDK about a call becomes attributes with these prefixes. */
const METADATA_PREFIXES: readonly string[] = [
  // ai 5 and 6: `experimental_telemetry.metadata`.
  'ai.telemetry.metadata.',
  // ai 7: `runtimeContext`, as far as `telemetry.includeRuntimeContext` lists it.
  'ai.settings.context.',
  'traceloop.association.properties.',
  'langsmith.metadata.',
  // Mastra: `tracingOptions.metadata`.
  'mastra.metadata.',
  // Langfuse: `propagateAttributes({ metadata })`.
  LANGFUSE_METADATA,
];

/** The attribute itself, and what it is called in the metadata of a call. */
export function withMetadata(attribute: string): readonly string[] {
  return [attribute, ...METADATA_PREFIXES.map((prefix) => `${prefix}${attribute}`)];
}

/** Attributes with the id of the query, of which the first that is there applies. */
export const ID_ATTRIBUTES: readonly string[] = [
  ...withMetadata(ID_ATTRIBUTE),
  ...METADATA_PREFIXES.map((prefix) => `${prefix}messageId`),
];

/** With this attribute the application says of a span or resource that neither it nor anything below it belongs to a query. */
const IGNORE_ATTRIBUTE = 'caller_stats.ignore';

/** Evaluations, too, run assistants and models. A span, and all below it, belongs to no query if one of these accepts it. */
export const IGNORE_RULES: readonly QueryRule[] = [
  ...withMetadata(IGNORE_ATTRIBUTE).map((attribute) => ({ attribute, values: ['true', '"true"'] })),
  // Mastra: @mastra/core 1.71.0 (2026-11-23).
  { attribute: 'mastra.span.type', values: ['scorer_run'] },
  // Mastra's exporter, Pydantic Evals around all cases, and LiveKit's judge.
  { attribute: 'gen_ai.operation.name', values: ['scorer_run', 'experiment', 'judge'] },
  { attribute: 'openinference.span.kind', values: ['EVALUATOR'] },
  // Langfuse: evaluators, and the runner of experiments.
  { attribute: 'langfuse.observation.type', values: ['evaluator'] },
  { attribute: 'langfuse.experiment.id', values: [] },
  { attribute: 'langfuse.environment', values: ['sdk-experiment'] },
  // LangSmith: what an experiment runs for an example, and what judges a run; by the source of langsmith (2026-11-27).
  { attribute: 'langsmith.metadata.example_version', values: [] },
  { attribute: 'langsmith.metadata.reference_run_id', values: [] },
  // Promptfoo; by its source (2026-11-27).
  { attribute: 'promptfoo.eval.id', values: [] },
  // A function that a timer starts.
  { attribute: 'faas.trigger', values: ['timer'] },
];

/** What writes a title or suggests questions, by its name: `generate_title`, `invoke_agent title-writer`, `suggestedQuestions`. */
const BESIDE_ANSWER = (() => {
  const gap = '[ _-]?';
  const verb = `(generate|create|make|write|suggest|update|set)${gap}`;
  const title = `((an?|the|chat|conversation|thread|session)${gap})*titles?(${gap}(generat(or|ion)|agent|writer|maker|task|chain))?`;
  const questions = `(suggest(ed|ion)?s?|follow${gap}ups?|related)${gap}(questions|prompts|replies)`;
  const suggestions = `((question|prompt|reply)${gap})?suggestions?|${verb}follow${gap}ups`;
  return new RegExp(
    `^(invoke_agent |agent run:? )?['"]?([\\w-]+[.:/])*(${verb})?(${title}|${questions}|${suggestions})['"]?(\\.(agent|chain|task|workflow))?$`,
    'i',
  );
})();

export function isBesideAnswer(name: string | undefined): boolean {
  return (
    name !== undefined &&
    /title|suggest|follow|related/i.test(name) &&
    BESIDE_ANSWER.test(name.replace(/([a-z])([A-Z])/g, '$1_$2'))
  );
}

/** Where an SDK writes what the application calls a call or an agent: the AI SDK, and the semantic conventions. */
export const CALL_NAMES: readonly string[] = ['ai.telemetry.functionId', 'gen_ai.agent.name'];

/** Braintrust: what belongs to an experiment, and scorers; and what timers and probes request: Vercel's, Google's and Kubernetes'. */
export const IGNORE_PATTERNS: readonly (readonly [attribute: string, pattern: RegExp])[] = [
  ...USER_AGENTS.map((name) => [name, /^(vercel-cron|Google-Cloud-Scheduler|kube-probe)\b/] as const),
  ['braintrust.parent', /^experiment_/],
  ['braintrust.span_attributes', /"type": ?"(eval|score)"/],
];

/** Evaluations, and jobs that nobody asked for, by the names of their spans: `ragas evaluation`, `llm-judge`, `cron nightly-summary`. */
export function isNoQuestion(name: string, isFirst: boolean): boolean {
  return (
    /^(ragas )?eval(s|uat(e|or|ion)s?)?(?![a-z])/i.test(name) ||
    (isFirst && /^(cron|warm-?up|scor(er|ing)|(llm[ _-])?(as[ _-]a[ _-])?judge)(?![a-z])/i.test(name))
  );
}

/** The rules as the text of a setting, which `parseQueryRules` reads. */
export function formatQueryRules(rules: readonly QueryRule[]): string {
  const known: readonly QueryRule[] = KNOWN_RULES;
  const hasAllKnown = known.every((rule) => rules.includes(rule));
  const others = hasAllKnown ? rules.filter((rule) => !known.includes(rule)) : rules;
  const texts = others.map((rule) =>
    conditionsOf(rule)
      .map(({ attribute, values }) => (values.length === 0 ? attribute : `${attribute}=${values.join()}`))
      .join(' & '),
  );
  return [...(hasAllKnown ? ['default'] : []), ...texts].join(';');
}
