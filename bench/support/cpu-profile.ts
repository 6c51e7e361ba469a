/** The processor time of a process by component, from the files of `node --cpu-prof`. */
import { readdirSync, readFileSync } from 'node:fs';
import { join } from 'node:path';

/** The used part of the format (Chrome DevTools Protocol, `Profiler.Profile`). */
interface Profile {
  readonly nodes: readonly ProfileNode[];
  /** The node of each sample. */
  readonly samples: readonly number[];
  /** Microseconds before each sample. */
  readonly timeDeltas: readonly number[];
}

interface ProfileNode {
  readonly id: number;
  readonly callFrame: { readonly functionName: string; readonly url: string; readonly lineNumber: number };
  readonly children?: readonly number[];
}

export interface Share {
  readonly what: string;
  /** Share of the busy time of the thread. */
  readonly share: number;
}

/** The time of one thread. */
export interface ThreadTime {
  /** Milliseconds in which the thread was busy or waited for the disk. */
  readonly busyMs: number;
  /** Components, largest first. */
  readonly parts: readonly Share[];
  /** Functions by self time, largest first. */
  readonly functions: readonly Share[];
}

/** The time of each thread from `fromMs` after its start on; the main thread first. */
export function threadTimes(folder: string, fromMs: number): ThreadTime[] {
  return readdirSync(folder)
    .filter((name) => name.endsWith('.cpuprofile'))
    .map((name) => ({ name, thread: Number(name.split('.')[4]) }))
    .sort((a, b) => a.thread - b.thread)
    .map(({ name }) =>
      measureThread(JSON.parse(readFileSync(join(folder, name), 'utf8')) as Profile, fromMs),
    );
}

function measureThread({ nodes, samples, timeDeltas }: Profile, fromMs: number): ThreadTime {
  const byId = new Map(nodes.map((node) => [node.id, node]));
  const parents = new Map(nodes.flatMap(({ id, children = [] }) => children.map((child) => [child, id])));
  const parts = new Map<string, number>();
  const functions = new Map<string, number>();
  let [atUs, busyUs] = [0, 0];
  for (const [index, id] of samples.entries()) {
    const us = timeDeltas[index] ?? 0;
    atUs += us;
    const node = byId.get(id);
    if (node === undefined || atUs < fromMs * 1000 || node.callFrame.functionName === '(idle)') continue;
    busyUs += us;
    const part = classifyFrame(node, byId, parents);
    const name = `${node.callFrame.functionName || '(anonymous)'} (${part})`;
    parts.set(part, (parts.get(part) ?? 0) + us);
    functions.set(name, (functions.get(name) ?? 0) + us);
  }
  return { busyMs: busyUs / 1000, parts: toShares(parts, busyUs), functions: toShares(functions, busyUs) };
}

function toShares(times: ReadonlyMap<string, number>, wholeUs: number): Share[] {
  return [...times]
    .map(([what, us]) => ({ what, share: us / wholeUs }))
    .sort((one, other) => other.share - one.share);
}

/** The component of a function. Functions without a file and shared Node internals belong to their caller. */
function classifyFrame(
  node: ProfileNode,
  byId: ReadonlyMap<number, ProfileNode>,
  parents: ReadonlyMap<number, number>,
): string {
  const { functionName, url } = node.callFrame;
  if (functionName === '(garbage collector)') return 'garbage collection';
  if (functionName === '(program)') return 'V8 itself';
  const named = /\/node_modules\/((?:@[^/]+\/)?[^/]+)/.exec(url)?.[1] ?? /\/dist\/(\w+\/?\w*)/.exec(url)?.[1];
  if (named !== undefined) return url.includes('/node_modules/') ? named : `src/${named}`;
  const builtIn = BUILT_IN.find(([pattern]) => pattern.test(url))?.[1];
  if (builtIn !== undefined) return builtIn;
  const parent = byId.get(parents.get(node.id) ?? Number.NaN);
  if (parent !== undefined && parent.callFrame.functionName !== '(root)')
    return classifyFrame(parent, byId, parents);
  return url.startsWith('node:') ? 'Node: other' : 'V8 itself';
}

const BUILT_IN: readonly (readonly [pattern: RegExp, part: string])[] = [
  [
    /^node:internal\/modules|^node:internal\/deps\/cjs|^node:internal\/bootstrap|^node:vm/,
    'Node: finding and compiling modules',
  ],
  [/^node:_http|^node:internal\/http/, 'Node: HTTP'],
  [/^node:net|^node:internal\/stream|^node:internal\/streams|^node:stream/, 'Node: sockets and streams'],
  [/^node:internal\/worker|^node:internal\/per_context\/messageport/, 'Node: messages between threads'],
];
