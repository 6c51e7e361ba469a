/** The documented rules for requests with a key, implemented again: who may do what from where, and which refusal comes first. */

import type { KeyType } from '../../../src/domain/keys/api-key.js';

export const STATES = ['active', 'disabled', 'expired', 'revoked', 'unknown', 'malformed'] as const;
export type State = (typeof STATES)[number];

/** A kind of key: a recording or reading key has a project, an admin key has scopes. */
export interface Holder {
  readonly organization: 'default' | 'rival';
  readonly type?: 'reading';
  readonly project?: string;
  readonly scopes?: readonly ('read' | 'write')[];
}

export const HOLDERS: Readonly<Record<string, Holder>> = {
  'an admin key that reads': { organization: 'default', scopes: ['read'] },
  'an admin key that reads and writes': { organization: 'default', scopes: ['read', 'write'] },
  'the recording key of this project': { organization: 'default', project: 'docs' },
  'the recording key of another project': { organization: 'default', project: 'blog' },
  'the reading key of this project': { organization: 'default', type: 'reading', project: 'docs' },
  'the reading key of another project': { organization: 'default', type: 'reading', project: 'blog' },
  'an admin key of another organization that reads': { organization: 'rival', scopes: ['read'] },
  'an admin key of another organization that reads and writes': {
    organization: 'rival',
    scopes: ['read', 'write'],
  },
};

/** An allowlist, an address, and whether the list contains the address. */
export const PLACES: readonly {
  readonly allow: readonly string[];
  readonly from: string;
  readonly inside: boolean;
}[] = [
  { allow: [], from: '203.0.113.9', inside: true },
  { allow: [], from: '2001:db8::9', inside: true },
  { allow: ['192.0.2.0/24'], from: '192.0.2.7', inside: true },
  { allow: ['192.0.2.0/24'], from: '192.0.3.7', inside: false },
  { allow: ['192.0.2.0/24'], from: '2001:db8::9', inside: false },
  { allow: ['2001:db8::/32', '198.51.100.1'], from: '2001:db9::1', inside: false },
  { allow: ['192.0.2.0/24'], from: '::ffff:192.0.2.7', inside: true },
  { allow: ['2001:db8::/32', '198.51.100.1'], from: '2001:db8:ffff::1', inside: true },
  { allow: ['2001:db8::/32', '198.51.100.1'], from: '198.51.100.1', inside: true },
];

/** The operations that read, which require an admin or reading key. */
const READING = ['caller-stats', 'caller-stats/series', 'callers', 'ingestion'] as const;

type Fault = 'parameter' | 'type' | 'type and size' | 'encoding' | 'size and body' | 'body';

export interface AskedFor {
  readonly method: string;
  readonly operation: (typeof READING)[number] | 'queries';
  readonly project: string;
  readonly fault?: Fault;
}

const PROJECTS = ['docs', 'blog', 'rival-docs', 'no-such-project'];
const READING_METHODS = ['GET', 'HEAD', 'POST', 'DELETE', 'OPTIONS'];
const METHODS = {
  'caller-stats': READING_METHODS,
  'caller-stats/series': READING_METHODS,
  callers: READING_METHODS,
  ingestion: READING_METHODS,
  queries: ['POST', 'GET', 'HEAD', 'PUT'],
} as const;
const FAULTS: readonly [AskedFor['operation'], string, Fault][] = [
  ...READING.flatMap((operation): [AskedFor['operation'], string, Fault][] => [
    [operation, 'GET', 'parameter'],
    [operation, 'HEAD', 'parameter'],
    [operation, 'POST', 'type and size'],
  ]),
  ['queries', 'GET', 'parameter'],
  ['queries', 'POST', 'parameter'],
  ['queries', 'POST', 'type'],
  ['queries', 'POST', 'type and size'],
  ['queries', 'POST', 'encoding'],
  ['queries', 'POST', 'size and body'],
  ['queries', 'POST', 'body'],
  ['queries', 'PUT', 'size and body'],
];
const FAULTS_ELSEWHERE = FAULTS.filter(([, , fault]) => fault === 'parameter' || fault === 'type and size');

/** Every operation with various methods on every kind of project, and requests with other faults. */
export const REQUESTS: readonly AskedFor[] = PROJECTS.flatMap((project) => [
  ...([...READING, 'queries'] as const).flatMap((operation) =>
    METHODS[operation].map((method) => ({ method, operation, project })),
  ),
  ...(project === 'docs' ? FAULTS : project === 'blog' ? [] : FAULTS_ELSEWHERE).map(
    ([operation, method, fault]) => ({ method, operation, project, fault }),
  ),
]);

export interface Expected {
  readonly status: number;
  /** A pattern that the message of a refusal must match. */
  readonly says?: RegExp;
}

const FAULT_STATUS: Readonly<Record<Fault, number>> = {
  parameter: 400,
  type: 415,
  'type and size': 415,
  encoding: 415,
  'size and body': 413,
  body: 400,
};

function reaches(type: KeyType, holder: Holder, project: string): boolean {
  const theirs = { docs: 'default', blog: 'default', 'rival-docs': 'rival' }[project];
  return type === 'admin' ? theirs === holder.organization : project === holder.project;
}

function typesFor(operation: AskedFor['operation'], isRead: boolean): string {
  if (operation !== 'queries') return 'admin or reading';
  return isRead ? 'admin' : 'recording or admin';
}

/** First the key, then the address, then the scope, then the project, then the method, then all the rest. */
export function expected(state: State, holder: Holder, inside: boolean, asked: AskedFor): Expected {
  const { method, operation, project, fault } = asked;
  const type = holder.type ?? (holder.project === undefined ? 'admin' : 'recording');
  const isRead = method === 'GET' || method === 'HEAD';
  const types = typesFor(operation, isRead);
  if (state === 'malformed') return { status: 401, says: /malformed/ };
  if (!types.includes(type))
    return { status: 401, says: new RegExp(`of type ${types}; the one sent is of type ${type}`) };
  if (state !== 'active') return { status: 401, says: new RegExp(`is ${state}\\.(?:$| It ended at )`) };
  if (!inside) return { status: 403, says: /may not be used from this address/ };
  const needed = isRead ? 'read' : 'write';
  // A recording key is limited by its type alone.
  const scopes = { admin: holder.scopes ?? [], reading: ['read'], recording: [needed] }[type];
  if (!scopes.some((scope) => scope === needed)) {
    return { status: 403, says: new RegExp(`with the scope ${needed}`) };
  }
  if (!reaches(type, holder, project)) return { status: 404, says: /^There is no such project\.$/ };
  const takes = operation === 'queries' ? ['GET', 'HEAD', 'POST'] : ['GET', 'HEAD'];
  if (!takes.includes(method)) return { status: 405, says: /^This path takes no / };
  return { status: fault === undefined ? 200 : FAULT_STATUS[fault] };
}
