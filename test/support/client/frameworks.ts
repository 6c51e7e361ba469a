/** Asks the assistants in `programs/`, which are the same in every framework, and reads which questions were counted. */
import { once } from 'node:events';
import type { ServerResponse } from 'node:http';
import { fileURLToPath } from 'node:url';
import { expect } from 'vitest';
import { matched, type RunOptions, startCommand } from '../cli/cli.js';
import { makeKey, placeWithProject } from '../cli/cli-place.js';
import { startHttpServer } from '../http-server.js';
import { withFile } from '../storage/sqlite-file.js';

export const programs = fileURLToPath(new URL('programs/', import.meta.url));

/** The URL and the key for the recorder of an assistant. */
export type AssistantEnv = Readonly<Record<string, string>>;

/** Starts an assistant and returns its URL. */
export type StartAssistant = (env: AssistantEnv) => Promise<string>;

/** Starts a program that prints its port, by default as those of `programs/` do. */
export async function startProgram(
  command: string,
  args: readonly string[],
  { port = /listens on (\d+)/, ...options }: RunOptions & { readonly port?: RegExp },
): Promise<string> {
  const running = startCommand(command, args, { cwd: programs, ...options });
  return `http://127.0.0.1:${matched(await running.printed(port), port)}`;
}

/** The assistant in a file of `programs/` on Node. */
export const onNode =
  (file: string, cwd = programs): StartAssistant =>
  (env) =>
    startProgram(process.execPath, [file], { cwd, env });

interface Kind {
  readonly what: string;
  /** How many questions of this kind count. */
  readonly correct: number;
}

/**
 * The kinds of questions. The rule: a question counts once if the handler has answered it with a status below 400, however
 * the response ends.
 */
export const QUESTIONS: Readonly<Record<string, Kind>> = {
  answered: { what: 'a question', correct: 1 },
  repeated: { what: 'the same message twice', correct: 1 },
  streamed: { what: 'a streamed answer', correct: 1 },
  stopped: { what: 'the reader stops the stream', correct: 1 },
  'broken off': { what: 'the stream ends with an error', correct: 1 },
  late: { what: 'the reader leaves before the answer, which the handler gives all the same', correct: 1 },
  'at once': { what: '20 questions at once', correct: 20 },
  'without id': { what: 'two questions for which id returns nothing', correct: 2 },
  refused: { what: 'refused with 400', correct: 0 },
  throws: { what: 'the handler throws', correct: 0 },
  last: { what: 'a question after all others', correct: 1 },
};

const correctCounts = Object.fromEntries(
  Object.entries(QUESTIONS).map(([kind, { correct }]) => [kind, correct]),
);

/** Asks an assistant every kind of question. Returns how many of each were counted. */
export async function countQuestions(start: StartAssistant): Promise<Record<string, number>> {
  const place = await placeWithProject();
  const { url } = await place.serve();
  const env = { CALLER_STATS_URL: url, CALLER_STATS_RECORDING_KEY: await makeKey(place, 'recording') };
  const assistant = await start(env);
  await askAll(`${assistant}/ask`);
  const counted = (): Record<string, number> => {
    const ids = withFile(place.database, (db) => db.prepare('SELECT id FROM query').all());
    const times = Object.fromEntries(Object.keys(QUESTIONS).map((kind) => [kind, 0]));
    for (const { id } of ids) {
      // The store packs UUIDs.
      const kind = typeof id === 'string' ? id.replace(/ \d+$/, '') : 'without id';
      times[kind] = (times[kind] ?? 0) + 1;
    }
    return times;
  };
  await comesTo(counted, { ...correctCounts, last: 0 });
  // Nothing else is counted meanwhile.
  expect(await ask(`${assistant}/ask`, { id: 'last', kind: 'answered' })).toBe(200);
  await comesTo(counted, correctCounts);
  return counted();
}

/** Waits for counts, which may never come. */
async function comesTo(counted: () => Record<string, number>, counts: Record<string, number>): Promise<void> {
  await expect
    .poll(counted, { timeout: 20_000 })
    .toEqual(counts)
    .catch(() => {});
}

/** Asks an assistant every kind of question, and fails if any of them is not counted as it should. */
export async function expectCounts(start: StartAssistant): Promise<void> {
  expect(await countQuestions(start)).toEqual(correctCounts);
}

async function askAll(url: string): Promise<void> {
  // Those that must not count come first, so that the others are counted after them.
  expect(await ask(url, { id: 'refused', kind: 'refused' })).toBe(400);
  expect(await ask(url, { id: 'throws', kind: 'throws' })).toBe(500);
  await askLate(url);
  await stopReading(url);
  await ask(url, { id: 'broken off', kind: 'broken off' }).catch(() => {});
  expect(await ask(url, { id: 'streamed', kind: 'streamed' })).toBe(200);
  for (const id of ['answered', 'repeated', 'repeated', undefined, undefined]) {
    expect(await ask(url, { id, kind: 'answered' })).toBe(200);
  }
  const ids = Array.from({ length: 20 }, (_, at) => `at once ${at}`);
  await Promise.all(ids.map((id) => ask(url, { id, kind: 'answered' })));
}

interface Question {
  readonly id: string | undefined;
  readonly kind: string;
  readonly gate?: string;
}

/** What the AI SDK's `useChat` posts, whose own id is that of the conversation. */
const post = ({ id, kind, gate }: Question): RequestInit => ({
  method: 'POST',
  headers: { 'content-type': 'application/json' },
  body: JSON.stringify({
    id: 'a conversation',
    trigger: 'submit-message',
    messages: [
      { id: 'earlier', role: 'user', parts: [{ type: 'text', text: 'What is it?' }] },
      { id: 'answer', role: 'assistant', parts: [{ type: 'text', text: 'A tool.' }] },
      { id, role: 'user', parts: [{ type: 'text', text: 'How do I install it?' }] },
    ],
    ...{ kind, gate },
  }),
});

/** Reads the whole answer and returns its status. */
async function ask(url: string, question: Question): Promise<number> {
  const response = await fetch(url, post(question));
  await response.text();
  return response.status;
}

/** Leaves while the answer is streamed. */
async function stopReading(url: string): Promise<void> {
  const abort = new AbortController();
  const response = await fetch(url, { ...post({ id: 'stopped', kind: 'stopped' }), signal: abort.signal });
  await response.body?.getReader().read();
  abort.abort();
}

/** Leaves when the handler has begun, and lets it answer only then. */
async function askLate(url: string): Promise<void> {
  let begin = (_: ServerResponse): void => {};
  const begun = new Promise<ServerResponse>((resolve) => {
    begin = resolve;
  });
  const gate = await startHttpServer((_, response) => begin(response));
  const abort = new AbortController();
  const asked = fetch(url, { ...post({ id: 'late', kind: 'late', gate }), signal: abort.signal });
  asked.catch(() => {});
  const handler = await begun;
  abort.abort();
  await expect(asked).rejects.toThrow();
  handler.end();
  await once(handler, 'close');
}
