/** Answers HTTP requests like OpenAI: chat completions, responses and embeddings, also as streams. */
import type { IncomingMessage, ServerResponse } from 'node:http';
import { setTimeout as wait } from 'node:timers/promises';

interface Body {
  readonly model: string;
  readonly stream?: boolean;
  readonly tools?: readonly { readonly name?: string; readonly function?: { readonly name: string } }[];
  readonly messages?: readonly Turn[];
  readonly input?: string | readonly Turn[];
}

interface Turn {
  readonly role?: string;
  readonly type?: string;
}

/** An answer, as one object and as the events of a stream. */
interface Reply {
  readonly answer: object;
  readonly events: readonly { readonly type?: string }[];
}

/** The model named `failing` always answers with an error, and a question that begins with `retry` gets one first. */
export async function answerLikeOpenAi(request: IncomingMessage, response: ServerResponse): Promise<unknown> {
  const body = JSON.parse(Buffer.concat(await request.toArray()).toString()) as Body;
  const operation = operations[request.url ?? ''];
  const head = { 'content-type': body.stream === true ? 'text/event-stream' : 'application/json' };
  if (operation === undefined) return response.writeHead(404).end('{}');
  if (body.model === 'failing') {
    const error = { message: 'no quota', type: 'insufficient_quota' };
    return response.writeHead(400, { 'content-type': 'application/json' }).end(JSON.stringify({ error }));
  }
  if (failsFirst(body)) {
    const headers = { 'content-type': 'application/json', 'retry-after-ms': '1', 'retry-after': '0' };
    return response.writeHead(500, headers).end(JSON.stringify({ error: { message: 'overloaded' } }));
  }
  const { answer, events } = operation(body);
  response.writeHead(200, head);
  if (body.stream !== true) return response.end(JSON.stringify(answer));
  return stream(response, events);
}

const failed = new Set<string>();

/** A question that begins with `retry` fails at its first try. */
function failsFirst({ messages, input }: Body): boolean {
  const question = /"(retry [^"]*)"/.exec(JSON.stringify(messages ?? input))?.[1];
  if (question === undefined || failed.has(question)) return false;
  failed.add(question);
  return true;
}

/** Only events of responses have types. */
async function stream(response: ServerResponse, events: Reply['events']): Promise<void> {
  for (const event of events) {
    const name = event.type === undefined ? '' : `event: ${event.type}\n`;
    response.write(`${name}data: ${JSON.stringify(event)}\n\n`);
    await wait(5);
  }
  response.end(events.some(({ type }) => type !== undefined) ? '' : 'data: [DONE]\n\n');
}

const operations: Readonly<Record<string, (body: Body) => Reply>> = {
  '/v1/chat/completions': completeChat,
  '/v1/responses': respond,
  '/v1/embeddings': embed,
};

let ids = 0;
const text = 'Run npm install.';

/** The first tool is called once. Its result in the conversation means that it was. */
function toolToCall({ tools = [], messages, input }: Body): string | undefined {
  const turns = messages ?? (Array.isArray(input) ? (input as readonly Turn[]) : []);
  const wasCalled = turns.some(({ role, type }) => role === 'tool' || type === 'function_call_output');
  return wasCalled ? undefined : (tools[0]?.name ?? tools[0]?.function?.name);
}

function completeChat(body: Body): Reply {
  const base = { id: `chatcmpl-${++ids}`, created: 1, model: body.model };
  const usage = { prompt_tokens: 3, completion_tokens: 4, total_tokens: 7 };
  const name = toolToCall(body);
  const call = { name, arguments: '{"query":"install","input":"install"}' };
  const calls = [{ index: 0, id: `call_${ids}`, type: 'function', function: call }];
  const reason = name === undefined ? 'stop' : 'tool_calls';
  const content = name === undefined ? { content: text } : { content: null, tool_calls: calls };
  const message = { role: 'assistant', ...content };
  const chunk = (delta: object, finish_reason: string | null = null) => ({
    ...{ ...base, object: 'chat.completion.chunk' },
    choices: [{ index: 0, delta, finish_reason }],
  });
  const deltas = name === undefined ? text.split(/(?= )/).map((part) => ({ content: part })) : [content];
  return {
    answer: {
      ...base,
      object: 'chat.completion',
      choices: [{ index: 0, message, finish_reason: reason }],
      usage,
    },
    events: [
      chunk({ role: 'assistant', content: '' }),
      ...deltas.map((delta) => chunk(delta)),
      chunk({}, reason),
      { ...chunk({}), choices: [], usage } as object,
    ],
  };
}

function respond(body: Body): Reply {
  const id = `resp_${++ids}`;
  const name = toolToCall(body);
  const item =
    name === undefined
      ? {
          type: 'message',
          id: `msg_${ids}`,
          role: 'assistant',
          content: [{ type: 'output_text', text, annotations: [] }],
        }
      : {
          type: 'function_call',
          id: `fc_${ids}`,
          call_id: `call_${ids}`,
          name,
          arguments: '{"query":"install","input":"install"}',
        };
  const details = {
    input_tokens_details: { cached_tokens: 0 },
    output_tokens_details: { reasoning_tokens: 0 },
  };
  const answer = {
    ...{
      id,
      object: 'response',
      created_at: 1,
      status: 'completed',
      model: body.model,
      error: null,
      metadata: {},
    },
    ...{ output: [{ ...item, status: 'completed' }], tools: body.tools ?? [], parallel_tool_calls: true },
    usage: { input_tokens: 3, output_tokens: 4, total_tokens: 7, ...details },
  };
  const place = { item_id: item.id, output_index: 0, content_index: 0 };
  const events = [
    { type: 'response.created', response: { ...answer, status: 'in_progress', output: [] } },
    { type: 'response.output_item.added', output_index: 0, item: { ...item, status: 'in_progress' } },
    ...(name === undefined ? [{ type: 'response.output_text.delta', ...place, delta: text }] : []),
    { type: 'response.output_item.done', output_index: 0, item: { ...item, status: 'completed' } },
    { type: 'response.completed', response: answer },
  ];
  return { answer, events: events.map((event, sequence_number) => ({ ...event, sequence_number })) };
}

function embed({ model, input }: Body): Reply {
  const inputs = Array.isArray(input) ? input : [input];
  const data = inputs.map((_, index) => ({ object: 'embedding', index, embedding: [0.1, 0.2] }));
  return {
    answer: { object: 'list', model, data, usage: { prompt_tokens: 1, total_tokens: 1 } },
    events: [],
  };
}
