/**
 * An assistant for `frameworks.ts`, the same in every framework: its question says how the answer ends. The gate of a late
 * answer is a URL that responds when the reader has left.
 */

/** The response to a question, with standard web types. */
export async function answerQuestion({ kind, gate }) {
  if (kind === 'throws') throw new Error('The model is not available.');
  if (kind === 'refused') return new Response('That is no question.', { status: 400 });
  if (kind === 'late') await fetch(gate);
  const next = streamed[kind];
  return next ? new Response(streamThat(next)) : Response.json({ answer: 'Because.' });
}

/** The same for handlers that have a `Request`. Reads its body. */
export async function answerRequest(request) {
  return answerQuestion(await request.json());
}

/** The same as calls of Node's response. */
export async function answerWith(response, question) {
  const { status, headers, body } = await answerQuestion(question);
  response.writeHead(status, Object.fromEntries(headers));
  for await (const chunk of body) response.write(chunk);
  response.end();
}

/** What happens after the first chunk of a streamed answer. */
const streamed = {
  streamed: (controller) => controller.close(),
  'broken off': (controller) => controller.error(new Error('The model has stopped.')),
  stopped: () => new Promise(() => {}),
};

function streamThat(next) {
  return new ReadableStream({
    start: (controller) => controller.enqueue(new TextEncoder().encode('First, ')),
    pull: next,
  });
}

/** The options of the recorder, from the environment. */
export const recorderOptions = (env) => ({
  url: env.CALLER_STATS_URL,
  projectId: env.CALLER_STATS_PROJECT ?? 'docs',
  key: env.CALLER_STATS_RECORDING_KEY,
  delayMs: 0,
});

/** The id of the reader's last message, in what the AI SDK's `useChat` posts. */
export const messageId = ({ messages }) => messages.findLast(({ role }) => role === 'user').id;

/** The options of the middleware for handlers that have a `Request`. */
export const requestOptions = {
  rules: { siteOrigins: ['https://docs.example.com'] },
  id: async (request) => messageId(await request.json()),
};
