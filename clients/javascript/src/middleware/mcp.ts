/** A wrapper for tools of MCP servers. It imports nothing of an SDK: contexts of versions 1 and 2 of the official one have these shapes. */
import {
  type CallerRules,
  callerOfClient,
  type DetectableRequest,
  detectCaller,
} from '../../../../src/domain/queries/caller-detection.js';
import { platform } from '../platform.js';
import { type QuestionOptions, questionRecorder, requestId } from './question.js';

export interface ToolOptions extends Pick<QuestionOptions<never>, 'recorder' | 'after'> {
  /** The server of the tool: `server.server` of an `McpServer`. It knows who its client is. */
  readonly server: ToolServer;
  /** Rules for detecting the caller; see `detectCaller`. `fallback` is the caller of clients without a name: `mcp`. */
  readonly rules?: Omit<CallerRules, 'apiHeaders'>;
}

interface ToolServer {
  getClientVersion(): { readonly name: string } | undefined;
  readonly transport?: object | undefined;
}

type RequestId = string | number;

/** What an SDK tells a tool about a call. */
interface ToolContext {
  readonly sessionId?: string;
  // Version 1
  readonly requestId?: RequestId;
  readonly requestInfo?: DetectableRequest;
  // Version 2
  readonly mcpReq?: { readonly id: RequestId; readonly envelope?: Readonly<Record<string, unknown>> };
  readonly http?: { readonly req?: DetectableRequest };
}

/** Since 2026-07-28, each request names its client. */
const CLIENT_INFO = 'io.modelcontextprotocol/clientInfo';

const CALLER = 'mcp';

/** A session without a name of its own, such as the one of a process over stdin, by its transport. */
const sessions = new WeakMap<object, string>();

/**
 * Wraps a tool that answers questions and records one when it has answered without an error. A call that the client repeats in its
 * session counts once.
 *
 * `server.registerTool('ask', { inputSchema }, recordQuestions(ask, { recorder, server: server.server }))`
 */
export function recordQuestions<Context extends readonly unknown[], Answer>(
  tool: (...context: Context) => Answer | Promise<Answer>,
  options: ToolOptions,
): (...context: Context) => Promise<Answer> {
  const { recorder, after } = options;
  const record = questionRecorder<[asked: Asked]>({
    recorder,
    ...(after && { after }),
    caller: ({ caller }) => caller,
    id: ({ id }) => id(),
  });
  return async (...context) => {
    const askedAtMs = platform.now();
    // Read before the tool runs: a connection that has ended does not know its client any more.
    const asked = read((context.at(-1) ?? {}) as ToolContext, options);
    const answer = await tool(...context);
    if (isAnswer(answer)) await record({ request: asked.request, mark: asked, askedAtMs, context: [asked] });
    return answer;
  };
}

interface Asked {
  readonly request: DetectableRequest;
  readonly caller: string;
  readonly id: () => string | Promise<string>;
}

function read(context: ToolContext, { server, rules }: ToolOptions): Asked {
  const http = context.http?.req ?? context.requestInfo;
  const request = http ?? { headers: {} };
  const info = context.mcpReq?.envelope?.[CLIENT_INFO] ?? server.getClientVersion();
  const { name = '' } = (info ?? {}) as { readonly name?: unknown };
  const detected = detectCaller(request, { ...rules, apiHeaders: [], fallback: CALLER });
  const caller = detected === CALLER ? callerOfClient(String(name)) || (rules?.fallback ?? CALLER) : detected;
  const session = context.sessionId ?? (http ? undefined : ownSession(server));
  const number = context.mcpReq?.id ?? context.requestId;
  const id = () =>
    session === undefined || number === undefined ? requestId(request) : idOf(session, number);
  return { request, caller, id };
}

function ownSession({ transport }: ToolServer): string | undefined {
  if (!transport) return undefined;
  const known = sessions.get(transport) ?? crypto.randomUUID();
  sessions.set(transport, known);
  return known;
}

/** A session's name lets anybody continue it: only a hash of it leaves the process. */
async function idOf(session: string, number: RequestId): Promise<string> {
  const text = new TextEncoder().encode(JSON.stringify([session, number]));
  const hash = new Uint8Array(await crypto.subtle.digest('SHA-256', text));
  return `mcp-${Array.from(hash.subarray(0, 16), (byte) => byte.toString(16).padStart(2, '0')).join('')}`;
}

/** A tool that throws gives an error, too. One that asks the client back has not answered yet. */
function isAnswer(answer: unknown): boolean {
  const { isError, resultType } = (answer ?? {}) as { isError?: unknown; resultType?: unknown };
  return isError !== true && resultType !== 'input_required';
}
