/** Assistants behind the frameworks that people use. Each runs as its recipe says. */
import { goService } from '../support/go.js';
import { springService } from '../support/java.js';
import { javaScriptService } from '../support/javascript.js';
import { pythonService } from '../support/python.js';
import type { Service } from '../support/service.js';

const clients = [
  ["OpenAI's client, OpenTelemetry", 'openai_client.py', 'opentelemetry.instrumentation.genai.openai'],
  ["OpenAI's client, OpenLLMetry", 'openai_client.py', 'opentelemetry.instrumentation.openai'],
  ["OpenAI's client, OpenInference", 'openai_client.py', 'openinference.instrumentation.openai'],
  ['Pydantic AI', 'pydantic_ai_agent.py', ''],
  ['OpenAI Agents, OpenTelemetry', 'openai_agents.py', 'opentelemetry.instrumentation.genai.openai_agents'],
  ['OpenAI Agents, OpenInference', 'openai_agents.py', 'openinference.instrumentation.openai_agents'],
  ['LangChain, OpenTelemetry', 'langchain_agent.py', 'opentelemetry.instrumentation.genai.langchain'],
  ['LangChain, OpenLLMetry', 'langchain_agent.py', 'opentelemetry.instrumentation.langchain'],
  ['LangChain, OpenInference', 'langchain_agent.py', 'openinference.instrumentation.langchain'],
] as const;

const frameworks = {
  fastapi: clients,
  flask: [clients[0], clients[3], clients[6]],
  django: [clients[0], clients[4]],
  celery: [clients[0], clients[3]],
} as const;

const python = (['fastapi', 'flask', 'django', 'celery'] as const).flatMap((app) =>
  frameworks[app].map(([sdk, file, instrumentation]) =>
    pythonService(app, sdk, file, instrumentation, { isQuick: sdk === clients[0][0] && app !== 'django' }),
  ),
);

/** The caller of what is sent before the server's span is known later. */
const withoutProcessor = [clients[0], clients[4]].map(([sdk, file, instrumentation]) =>
  pythonService('fastapi', `${sdk}, without the span processor`, file, instrumentation, {
    hasProcessor: false,
  }),
);

const openInference = '@arizeai/openinference-instrumentation';
const openLlmetry = '@traceloop/instrumentation';

const own = "OpenAI's client, with spans of the recipe";
const go = (['net/http', 'gin'] as const).flatMap((framework) => [
  goService(framework, `${own}, and its assistant`, undefined),
  goService(framework, own, 'openai'),
  goService(framework, 'Genkit', 'genkit'),
]);

const javaScript = [
  javaScriptService('AI SDK 7, the assistant of the recipe', undefined),
  javaScriptService('AI SDK 7', 'ai-sdk.mjs'),
  javaScriptService("OpenAI's client, OpenInference", 'openai-client.mjs', `${openInference}-openai`),
  javaScriptService("OpenAI's client, OpenLLMetry", 'openai-client.mjs', `${openLlmetry}-openai`),
  javaScriptService('LangChain, OpenInference', 'langchain.mjs', `${openInference}-langchain`),
  javaScriptService('LangChain, OpenLLMetry', 'langchain.mjs', `${openLlmetry}-langchain`),
  javaScriptService('OpenAI Agents, OpenInference', 'agents.mjs', `${openInference}-openai-agents`),
  javaScriptService('Mastra', 'mastra.mjs'),
];

export const services: readonly Service[] = [
  ...javaScript,
  pythonService('fastapi', `${clients[0][0]}, the assistant of the recipe`, undefined),
  ...python,
  ...withoutProcessor,
  ...go,
  springService('Spring AI, Micrometer, the assistant of the recipe'),
  springService('Spring AI, Micrometer', { answers: 'SpringAiAnswers.java' }),
  springService("Spring AI, OpenTelemetry's agent, requests of the route", {
    answers: 'SpringAiAnswers.java',
    hasAgent: true,
    rule: 'http.route=/ask',
  }),
  springService('LangChain4j, Micrometer, with spans of the recipe', { answers: 'LangChain4jAnswers.java' }),
  springService("LangChain4j, OpenTelemetry's agent, with spans of the recipe", {
    answers: 'LangChain4jAnswers.java',
    hasAgent: true,
  }),
];
