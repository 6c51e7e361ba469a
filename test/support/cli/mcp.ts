/** A `caller-stats mcp` process with the official client. */
import { Client, type ClientOptions } from '@modelcontextprotocol/client';
import { StdioClientTransport } from '@modelcontextprotocol/client/stdio';
import { PROGRAM } from './cli.js';
import type { Place } from './cli-place.js';

export interface McpSession {
  readonly client: Client;
  readonly pid: number;
  /** The process's output to stderr. */
  readonly stderr: () => string;
  /** The structured content of a call without its words. The call must succeed. */
  readonly call: (name: string, given: Record<string, unknown>) => Promise<Record<string, unknown>>;
  /** The text of a call, which must succeed. */
  readonly text: (name: string, given: Record<string, unknown>) => Promise<string>;
  /** The text of a call, which must fail. */
  readonly refusal: (name: string, given: Record<string, unknown>) => Promise<string>;
}

/** Starts it in a place, runs `use`, and ends it by closing its stdin. */
export async function withMcp<T>(
  place: Place,
  args: readonly string[],
  use: (session: McpSession) => Promise<T>,
  { env = {}, client: options = {} }: { env?: Record<string, string>; client?: ClientOptions } = {},
): Promise<T> {
  const [command, ...first] = PROGRAM;
  const transport = new StdioClientTransport({
    command,
    args: [...first, 'mcp', ...args],
    env: { ...place.env, ...env },
    cwd: place.folder,
    stderr: 'pipe',
  });
  let stderr = '';
  transport.stderr?.on('data', (text: Buffer) => {
    stderr += text.toString();
  });
  const client = new Client({ name: 'test', version: '1.0.0' }, options);
  try {
    await client.connect(transport);
    const ask = (name: string, given: Record<string, unknown>) => client.callTool({ name, arguments: given });
    const read = async (name: string, given: Record<string, unknown>) => {
      const { isError, structuredContent, content } = await ask(name, given);
      const [text, ...more] = content;
      if (isError || text?.type !== 'text' || more.length > 0)
        throw new Error(`${name} failed: ${JSON.stringify(content)}`);
      return { structured: structuredContent as Record<string, unknown>, text: text.text };
    };
    return await use({
      client,
      pid: transport.pid ?? Number.NaN,
      stderr: () => stderr,
      call: async (name, given) => {
        const { about: _, ...answer } = (await read(name, given)).structured;
        return answer;
      },
      text: async (name, given) => (await read(name, given)).text,
      refusal: async (name, given) => {
        const { isError, content } = await ask(name, given);
        const [text] = content;
        if (!isError || text?.type !== 'text') throw new Error(`${name} was not refused`);
        return text.text;
      },
    });
  } finally {
    await client.close();
  }
}

/** The rows of a tool's table, from its columns to what is left out, as objects. */
export function rowsOf(text: string): Record<string, string>[] {
  const lines = text.split('\n');
  const at = lines.findIndex((line) => /^(id|start|caller|web),[a-z]/.test(line));
  const [columns = [], ...rows] = lines
    .slice(at)
    .filter((line) => !line.startsWith('Left out: '))
    .map((line) => line.split(','));
  return rows.map((cells) =>
    Object.fromEntries(columns.map((column, index) => [column, cells[index] ?? ''])),
  );
}
