/** Asks an assistant that is a web app everything that people do with one, whatever its language, and reads what was counted. */
import { randomUUID } from 'node:crypto';
import { expect } from 'vitest';
import { clientOf } from '../../support/cli/cli-client.js';
import { makeKey, type Place, placeWithProject, project } from '../../support/cli/cli-place.js';
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

/** The counts of all scenarios. */
export async function countScenarios(service: Service): Promise<Record<string, number>> {
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
    // So that what ends before the answer does is sent before.
    OTEL_BSP_SCHEDULE_DELAY: '20',
    OPENAI_API_KEY: 'none',
    OPENAI_BASE_URL: `${await startHttpServer(answerLikeOpenAi)}/v1`,
  };
  const assistant = await service.start(env);
  const evaluated = service.evaluate?.({ ...env, OTEL_RESOURCE_ATTRIBUTES: 'caller_stats.ignore=true' });
  const asked = Object.entries(SCENARIOS).map(([caller, scenario]) =>
    askAll(assistant.url, caller, scenario),
  );
  const outcomes = await Promise.allSettled([...asked, evaluated]);
  const failure = outcomes.find((one) => one.status === 'rejected')?.reason as unknown;
  for (const { pid, ended } of assistant.processes) {
    kill(pid, 'SIGTERM');
    const { stderr } = await ended;
    if (failure !== undefined) process.stderr.write(stderr);
  }
  if (failure !== undefined) throw failure;
  return countsByCaller(place, url, admin);
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

async function countsByCaller(_: Place, url: string, key: string): Promise<Record<string, number>> {
  const headers = { authorization: `Bearer ${key}` };
  const response = await fetch(`${url}/v1/analytics/${project}/assistant/callers`, { headers });
  const { callers } = (await response.json()) as Callers;
  const counted = Object.fromEntries(callers.map(({ caller, count }) => [caller, count]));
  const { body } = await clientOf({ url }, project, key).count();
  expect(body.total).toBe(callers.reduce((sum, { count }) => sum + count, 0));
  return { ...Object.fromEntries(Object.keys(SCENARIOS).map((name) => [name, 0])), ...counted };
}
