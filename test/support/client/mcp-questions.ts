/** Calls the tools of an MCP server, whose tool `ask` counts questions, in every way, and reads what was counted. */
import { Client, type ClientOptions } from '@modelcontextprotocol/client';
import { expect } from 'vitest';
import type { Recorder } from '../../../clients/javascript/src/index.js';
import { createRecorder } from '../../../clients/javascript/src/recorder.js';
import { makeKey, placeWithProject, project } from '../cli/cli-place.js';

type Transport = Parameters<Client['connect']>[0];

/** Answers a request of HTTP as an MCP server. */
export type Answer = (request: Request) => Promise<Response>;

interface Question {
  readonly id: string;
  readonly caller: string;
}

/** A recorder of a real server, and what that has counted, one after the other. */
export async function counting(): Promise<{ recorder: Recorder; counted: () => Promise<Question[]> }> {
  const place = await placeWithProject();
  const { url } = await place.serve();
  const recorder = createRecorder({ url, projectId: project, key: await makeKey(place, 'recording') });
  const key = await makeKey(place, 'admin');
  const counted = async () => {
    expect(await recorder.flush()).toBe(true);
    const response = await fetch(`${url}/v1/analytics/${project}/assistant/queries`, {
      headers: { authorization: `Bearer ${key}` },
    });
    const lines = (await response.text()).split('\n').filter((line) => line !== '');
    return lines.map((line) => JSON.parse(line) as Question);
  };
  return { recorder, counted };
}

export const callersOf = async (counted: () => Promise<Question[]>): Promise<string[]> =>
  (await counted()).map(({ caller }) => caller);

/** What a tool does is the name of its question. */
export async function answerQuestion({ question }: { readonly question: string }) {
  if (question === 'throws') throw new Error('No.');
  const content = [{ type: 'text' as const, text: `About ${question}` }];
  return question === 'fails' ? { content, isError: true } : { content };
}

/** Lists the tools, and asks: two questions that are answered, and all kinds that are not. */
export async function askAll(transport: Transport, name: string, options: ClientOptions = {}): Promise<void> {
  const client = new Client({ name, version: '1' }, options);
  await client.connect(transport);
  try {
    await client.ping().catch(() => {});
    const call = (tool: string, given: object) =>
      client.callTool({ name: tool, arguments: { ...given } }).then(
        ({ isError }) => isError === true,
        () => true,
      );
    expect((await client.listTools()).tools.map((one) => one.name).sort()).toEqual(['ask', 'search']);
    expect(await call('search', { question: 'not a question' })).toBe(false);
    for (const question of ['throws', 'fails', 7]) expect(await call('ask', { question })).toBe(true);
    expect(await call('none', { question: 'a' })).toBe(true);
    for (const question of ['install', 'install']) expect(await call('ask', { question })).toBe(false);
  } finally {
    await client.close();
  }
}

const VERSION = '2025-06-18';

/** Sends plain JSON-RPC in a session of its own, and returns a function that calls the tool. */
export async function openSession(answer: Answer, clientInfo: object = { name: 'raw', version: '1' }) {
  const send = async (message: object, headers: Record<string, string> = {}): Promise<Response> => {
    const response = await answer(
      new Request('http://127.0.0.1/mcp', {
        method: 'POST',
        headers: {
          'content-type': 'application/json',
          accept: 'application/json, text/event-stream',
          ...headers,
        },
        body: JSON.stringify({ jsonrpc: '2.0', ...message }),
      }),
    );
    await response.clone().text();
    return response;
  };
  const params = { protocolVersion: VERSION, capabilities: {}, clientInfo };
  const opened = await send({ id: 0, method: 'initialize', params });
  const session = opened.headers.get('mcp-session-id');
  const named = { 'mcp-protocol-version': VERSION, ...(session !== null && { 'mcp-session-id': session }) };
  await send({ method: 'notifications/initialized' }, named);
  return async (id: number | string, headers: Record<string, string> = {}): Promise<void> => {
    const asked = { name: 'ask', arguments: { question: 'install' } };
    const response = await send({ id, method: 'tools/call', params: asked }, { ...named, ...headers });
    expect(await response.text()).toContain('About install');
  };
}
