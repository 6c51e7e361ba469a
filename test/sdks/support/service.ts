/** Asks an assistant that is a web app everything that people do with one, whatever its language, and reads what was counted. */
import { randomUUID } from 'node:crypto';
import { expect } from 'vitest';
import { clientOf } from '../../support/cli/cli-client.js';
import { makeKey, placeWithProject, project } from '../../support/cli/cli-place.js';
import { kill, type Running } from '../../support/cli/process.js';
import { startHttpServer } from '../../support/http-server.js';
import { answerLikeOpenAi } from './model.js';

export type Env = Readonly<Record<string, string>>;

/** A running assistant: it answers `POST /ask`, and ends by `SIGTERM`, the first process first. */
export interface Assistant {
  readonly url: string;
  readonly processes: readonly Running[];
}

export interface Service {
  readonly language: 'JavaScript' | 'Python' | 'Go' | 'Java';
  readonly framework: string;
  readonly sdk: string;
  readonly rule?: string;
  /** What is counted instead, by scenario, and why. */
  readonly wrong?: { readonly counted: Readonly<Record<string, number>>; readonly why: string };
  /** Part of the run of CI. */
  readonly isQuick?: boolean;
  readonly start: (env: Env) => Promise<Assistant>;
  /** Answers as a script, whose resource says that nothing in it is a question. */
  readonly evaluate?: (env: Env) => Promise<unknown>;
}

interface Scenario {
  readonly what: string;
  /** What is counted if it is right. */
  readonly right: number;
  /** The first word of its questions; an assistant does what that says. */
  readonly word?: 'stream' | 'retry' | 'tool' | 'team' | 'title';
  readonly asked?: number;
  readonly atOnce?: boolean;
  /** All questions have the same id. */
  readonly hasId?: boolean;
  readonly headers?: Env;
}

/** By the caller that names itself in `X-Caller`, or that the headers tell. */
export const SCENARIOS: Readonly<Record<string, Scenario>> = {
  two: { what: 'two questions of a session', right: 2, asked: 2 },
  stream: { what: 'a streamed answer', right: 1, word: 'stream' },
  tool: { what: 'a tool that is slower than the exporter', right: 1, word: 'tool' },
  retry: { what: 'the model fails first', right: 1, word: 'retry' },
  team: { what: 'two agents', right: 1, word: 'team' },
  many: { what: 'five at once', right: 5, asked: 5, atOnce: true },
  resent: { what: 'a message sent again, with its id', right: 1, asked: 2, hasId: true },
  title: { what: 'a title in the background', right: 1, word: 'title' },
  web: { what: 'asked by the site', right: 1, headers: { Origin: 'https://docs.example.com' } },
  api: { what: 'asked with a key', right: 1, headers: { Authorization: 'Bearer of-the-assistant' } },
  slack: { what: 'asked by Slack', right: 1, headers: { 'User-Agent': 'Slackbot 1.0' } },
  unknown: { what: 'an evaluation, and callers that nothing tells', right: 0, asked: 0 },
};

/** The counts of all scenarios. A tool takes `toolMs`. */
export async function countScenarios(service: Service, toolMs: number): Promise<Record<string, number>> {
  const { env, count } = await prepareServer(service);
  const ownEnv = {
    ...env,
    // So that what ends before the answer does is sent before.
    OTEL_BSP_SCHEDULE_DELAY: '20',
    TOOL_MS: String(toolMs),
  };
  const assistant = await service.start(ownEnv);
  const evaluated = service.evaluate?.({ ...ownEnv, OTEL_RESOURCE_ATTRIBUTES: 'caller_stats.ignore=true' });
  const asked = Object.entries(SCENARIOS).map(([caller, scenario]) =>
    askAll(assistant.url, caller, scenario),
  );
  const outcomes = await Promise.allSettled([...asked, evaluated]);
  const failure = outcomes.find((one) => one.status === 'rejected')?.reason as unknown;
  const printed = await stop(assistant);
  if (failure !== undefined) process.stderr.write(printed);
  if (failure !== undefined) throw failure;
  return count();
}

/** What is counted of ten questions before the last of them, and once `SIGTERM` has come at once after its answer. */
export async function countStopped(service: Service): Promise<Record<'before' | 'after', number>> {
  const { env, count } = await prepareServer(service);
  const assistant = await service.start({ ...env, OTEL_BSP_SCHEDULE_DELAY: '600000', TOOL_MS: '0' });
  const sum = async () => Object.values(await count()).reduce((all, one) => all + one, 0);
  await askAll(assistant.url, 'web', { what: 'ten at once', right: 10, asked: 9, atOnce: true });
  const before = await sum();
  await askAll(assistant.url, 'web', { what: 'the last one', right: 1 });
  await stop(assistant);
  return { before, after: await sum() };
}

/** What the assistant printed as spans, in the log of OpenTelemetry's agent for Java, while it answered a question of Slack with this id. */
export async function spansLogged(service: Service, id: string): Promise<string> {
  const { env } = await prepareServer(service);
  const assistant = await service.start({ ...env, OTEL_TRACES_EXPORTER: 'logging-otlp', TOOL_MS: '0' });
  const response = await fetch(`${assistant.url}/ask`, {
    method: 'POST',
    headers: { 'content-type': 'application/json', 'X-Caller': 'slack' },
    body: JSON.stringify({ id, question: 'ask: How do I install it?' }),
  });
  expect(response.status).toBe(200);
  return stop(assistant);
}

/** Ends its processes, and returns what they logged. */
async function stop({ processes }: Assistant): Promise<string> {
  const logged: string[] = [];
  for (const { pid, ended } of processes) {
    kill(pid, 'SIGTERM');
    logged.push((await ended).stderr);
  }
  return logged.join('');
}

/** A server with a project, and the variables of an assistant that sends to it. */
async function prepareServer(service: Service) {
  const place = await placeWithProject();
  if (service.rule !== undefined)
    await place.run(['project', 'change', project, '--otlp-query', service.rule]);
  const [recording, admin] = [await makeKey(place, 'recording'), await makeKey(place, 'admin')];
  const { url } = await place.serve();
  const env = {
    HOME: process.env['HOME'] ?? '',
    OTEL_EXPORTER_OTLP_ENDPOINT: url,
    OTEL_EXPORTER_OTLP_HEADERS: `Authorization=Bearer%20${recording}`,
    OTEL_SERVICE_NAME: 'docs-assistant',
    OPENAI_API_KEY: 'none',
    OPENAI_BASE_URL: `${await startHttpServer(answerLikeOpenAi)}/v1`,
  };
  return { env, count: () => countsByCaller(url, admin) };
}

async function askAll(url: string, caller: string, scenario: Scenario): Promise<void> {
  const { word = 'ask', asked = 1, atOnce = false, hasId = false, headers } = scenario;
  const id = hasId ? { id: randomUUID() } : {};
  const ask = async () => {
    const question = `${word} ${randomUUID()}: How do I install it?`;
    const response = await fetch(`${url}/ask`, {
      method: 'POST',
      headers: { 'content-type': 'application/json', ...(headers ?? { 'X-Caller': caller }) },
      body: JSON.stringify({ ...id, question }),
    });
    const text = await response.text();
    expect([response.status, text]).toEqual([200, expect.stringMatching(/./)]);
    await finished(url, text);
  };
  const questions = Array.from({ length: asked }, () => ask);
  if (atOnce) await Promise.all(questions.map((one) => one()));
  else for (const one of questions) await one();
}

/** Waits for the answer if it is made later, by a task. */
async function finished(url: string, text: string): Promise<void> {
  const task = /^\{"task":"(.+)"\}/.exec(text)?.[1];
  if (task === undefined) return;
  await expect.poll(async () => (await fetch(`${url}/answers/${task}`)).status, { interval: 100 }).toBe(200);
}

interface Callers {
  readonly callers: readonly { readonly caller: string; readonly count: number }[];
}

async function countsByCaller(url: string, key: string): Promise<Record<string, number>> {
  const headers = { authorization: `Bearer ${key}` };
  const response = await fetch(`${url}/v1/analytics/${project}/assistant/callers`, { headers });
  const { callers } = (await response.json()) as Callers;
  const counted = Object.fromEntries(callers.map(({ caller, count }) => [caller, count]));
  const { body } = await clientOf({ url }, project, key).count();
  expect(body.total).toBe(callers.reduce((sum, { count }) => sum + count, 0));
  return { ...Object.fromEntries(Object.keys(SCENARIOS).map((name) => [name, 0])), ...counted };
}
