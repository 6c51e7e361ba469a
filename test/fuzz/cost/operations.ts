/** The requests that the search changes: one or more for each body and set of parameters that the server reads. */
import { DASHBOARD_ROUTES } from '../../support/http/dashboard-routes.js';
import { HISTORY_PROJECT } from './history.js';
import { Big, type Tree } from './tree.js';

export interface Request {
  readonly method: 'GET' | 'POST' | 'PATCH';
  readonly path: string;
  /** Whose request it is: a key's, a signed-in owner's, or anybody's. */
  readonly by: 'admin' | 'recording' | 'owner' | 'anybody';
  /** The lines of `pipelined` are requests without a body, sent on one connection without waiting for answers. */
  readonly form?: 'json' | 'lines' | 'fields' | 'protobuf' | 'pipelined';
  readonly query?: Tree;
  /** What it accepts, if that is not JSON. */
  readonly accept?: string;
  readonly body?: Tree;
  /** The search does not change it: what it costs more than with the usual other requests lies in these. */
  readonly isFixed?: boolean;
}

/** The paths of share links: of the project that most operations read, and of the project with a long history. */
export interface Shared {
  readonly all: string;
  readonly history: string;
}

const PROJECT = 'assistant-demo';
const REPORTS = `/v1/analytics/${PROJECT}/assistant`;
const RECORDED = '/v1/analytics/demo/assistant';
const OWNED = '/api/organizations/default';
const HISTORY = `/v1/analytics/${HISTORY_PROJECT}/assistant`;
/** All of a long history. */
const long: Tree = { dateFrom: '2022-01-01', dateTo: '2026-12-31' };
const range: Tree = { dateFrom: '2026-01-01', dateTo: '2026-12-31' };

const query: Tree = { id: 'query {i}', caller: 'slack', occurredAt: '2026-06-01T00:00:00Z' };
const count: Tree = {
  source: 'old',
  caller: 'web',
  start: '2020-01-01T00:00:00Z',
  end: '2020-01-02T00:00:00Z',
  count: 1,
};

const text = (key: string, value: string): Tree => ({ key, value: { stringValue: value } });
const resource: Tree = { attributes: [text('service.name', 'docs')] };
const span: Tree = {
  ...{
    traceId: `{n}${'a'.repeat(24)}`,
    spanId: '{r}{i}',
    parentSpanId: '{r}{p}',
    kind: 2,
    startTimeUnixNano: '1780128005000000000',
  },
  attributes: [
    text('gen_ai.operation.name', 'invoke_agent'),
    text('caller_stats.caller', 'slack'),
    text('http.route', '/ask'),
  ],
};
/** Most spans of a trace are of no query. */
const otherSpan: Tree = {
  ...{ traceId: `{n}${'a'.repeat(24)}`, spanId: '{i}{r}', parentSpanId: '{r}{i}', kind: 3 },
  attributes: [text('http.route', '/search')],
};
const log: Tree = {
  ...{
    traceId: `{n}${'a'.repeat(24)}`,
    spanId: '{r}{i}',
    timeUnixNano: '1780128005000000000',
    eventName: 'asked',
  },
  attributes: [text('gen_ai.operation.name', 'invoke_agent'), text('caller_stats.caller', 'slack')],
};
/** All requests of an input share a trace. */
const traces: Tree = {
  resourceSpans: [{ resource, scopeSpans: [{ spans: [span, otherSpan] }] }],
};
const attribute = text('gen_ai.response.model', 'x');
const detailedSpan: Tree = {
  ...(otherSpan as object),
  attributes: [new Big('items', attribute, 20, '')],
};
/** Cheap with the usual rules: others show what they cost for each span and attribute. */
const detailedSpans: Tree = {
  resourceSpans: [{ resource, scopeSpans: [{ spans: [new Big('items', detailedSpan, 500, '')] }] }],
};
const logs: Tree = { resourceLogs: [{ resource, scopeLogs: [{ logRecords: [log] }] }] };

const record = (form: NonNullable<Request['form']>, body: Tree, path: string): Request => ({
  method: 'POST',
  by: 'recording',
  form,
  body,
  path,
});
const read = (path: string, given: Tree, by: Request['by'] = 'admin'): Request => ({
  method: 'GET',
  path,
  by,
  query: given,
});
const owned = (path: string, body: Tree, method: 'POST' | 'PATCH' = 'POST'): Request => ({
  method,
  by: 'owner',
  path,
  form: 'json',
  body,
});

const call: Tree = {
  jsonrpc: '2.0',
  id: 1,
  method: 'tools/call',
  params: { name: 'get_callers', arguments: { projectId: PROJECT } },
};
const seriesCall: Tree = {
  ...(call as object),
  params: {
    name: 'get_caller_stats_series',
    arguments: { projectId: PROJECT, ...(range as object), interval: 'day', by: 'caller' },
  },
};
/** Of queries that the database has from the start. */
const withdrawal: Tree = {
  ...{ id: 'c {n}{r}', action: 'withdraw', reason: 'a test' },
  ids: ['seed 00000002', 'seed {i}'],
  dryRun: true,
};
const renaming: Tree = {
  ...{ id: 'r {n}{r}', action: 'rename', reason: 'a test', caller: 'slack', to: 'x-{n}' },
  ...{ dateFrom: '2026-01-01', dateTo: '2026-12-31', recordedBy: 'key:x' },
  dryRun: true,
};
/** Of those with a long history. */
const pastWithdrawal: Tree = {
  ...{ id: 'c {n}{r}', action: 'withdraw', reason: 'a test' },
  ids: ['corrected 00000002', 'late {i}'],
  dryRun: true,
};
const pastRenaming: Tree = {
  ...{ id: 'r {n}{r}', action: 'rename', reason: 'a test', caller: 'slack', to: 'x-{n}' },
  dryRun: true,
};
/** What no index has, or none together. */
const AUDIT_FILTERS: readonly Tree[] = [
  { to: '2020-01-01' },
  { from: '2020-01-01', before: '1000000', limit: '100' },
  { actor: 'ada@example.org', action: 'project.create', target: 'history' },
  { target: 'history', action: 'project.create', to: '2026-12-31' },
  { action: 'project.change', to: '2020-01-01' },
  { actor: 'ada@example.org', action: 'key.create', target: 'history', to: '2020-01-01' },
];
const fields: Tree = ['grant_type=refresh_token', 'refresh_token=x', 'x'];
const rules: Tree = {
  otlpQuery: 'default',
  otlpId: 'question',
  otlpCaller: 'caller_stats.caller',
  otlpSiteOrigins: 'https://*.example.com',
  otlpDefaultCaller: 'unknown',
};

/** What the header of a request says of its page is compared with each of a project's origins. */
const page: Tree = {
  ...(span as object),
  attributes: [
    text('gen_ai.operation.name', 'invoke_agent'),
    text('http.request.header.origin', `http://${'A.'.repeat(32_700)}_.a`),
    text('user_agent.original', 'Mozilla/5.0'),
  ],
};
const pages: Tree = {
  resourceSpans: [{ resource, scopeSpans: [{ spans: [new Big('items', page, 20, '')] }] }],
};
const origins: Tree = { otlpQuery: 'default', otlpSiteOrigins: 'http://*.a' };
/** Rules that nearly accept a record. */
const joined: Tree = { otlpQuery: 'http.route & a.b=c', otlpSiteOrigins: 'none' };

const RANGED = /\/(caller-stats|callers|numbers|series|week-hours|imported-counts)$/;
const SINCE = /\/changes$/;

/** Whatever an owner or a visitor of a share link may read. `shared` is the path of a share link. */
function pageReads(shared: string): [string, readonly Request[]][] {
  const known = { organizationId: 'default', projectId: PROJECT };
  const paths = DASHBOARD_ROUTES.filter(({ method }) => method === 'GET').map(({ path }) =>
    Object.entries(known).reduce((filled, [name, value]) => filled.replace(`:${name}`, value), path),
  );
  return paths
    .filter((path) => !path.includes('/oidc'))
    .map((path) => {
      const parameters = RANGED.test(path) ? range : SINCE.test(path) ? { since: '2026-01-01' } : {};
      return [`read ${path}`, [read(path.replace('/api/shared/:token', shared), parameters, 'owner')]];
    });
}

const PAGES: readonly (readonly [string, readonly Request[]])[] = [
  ['pages: projects', [owned(`${OWNED}/projects`, { name: 'x', id: 'fuzz-{i}' })]],
  ['pages: keys', [owned(`${OWNED}/keys`, { type: 'recording', name: 'x', projectId: 'demo' })]],
  [
    'pages: share links',
    [owned(`${OWNED}/projects/demo/share-links`, { name: 'x', origins: ['https://example.com'] })],
  ],
  [
    'pages: notifications',
    [
      owned(`${OWNED}/projects/demo/notifications`, {
        kind: 'silence',
        hours: 24,
        timeZone: 'UTC',
        channel: 'webhook',
        destination: 'https://127.0.0.1/refused',
      }),
    ],
  ],
  ['pages: corrections', [owned(`${OWNED}/projects/${PROJECT}/corrections`, withdrawal)]],
  [
    'pages: applications',
    [
      owned('/api/applications/look-up', {
        query: 'client_id=x.y&redirect_uri=http%3A%2F%2Flocalhost&code_challenge=x',
      }),
    ],
  ],
  [
    'pages: invitations',
    [owned(`${OWNED}/invitations`, { email: 'b@example.org', role: 'reader', projects: ['demo'] })],
  ],
  [
    'registrations',
    [
      {
        ...{ method: 'POST', by: 'anybody', path: '/oauth/register', form: 'json' },
        body: { client_name: 'x', redirect_uris: ['http://localhost/x', 'https://x.example/'] },
      },
    ],
  ],
  [
    'pages: sign-in',
    [
      {
        method: 'POST',
        by: 'anybody',
        path: '/api/sign-in',
        form: 'json',
        body: { email: 'a@example.com', password: 'x' },
      },
    ],
  ],
  [
    'pages: forgotten password',
    [
      {
        method: 'POST',
        by: 'anybody',
        path: '/api/password-reset/mail',
        form: 'json',
        body: { email: 'ada@example.org' },
      },
    ],
  ],
];

const CORRECTIONS: readonly (readonly [string, readonly Request[]])[] = [
  ['corrections', [{ ...record('json', withdrawal, `${REPORTS}/corrections`), by: 'admin' }]],
  ['renamings', [{ ...record('json', renaming, `${REPORTS}/corrections`), by: 'admin' }]],
  [
    'queries, then a renaming',
    [
      record('json', [query], `${RECORDED}/queries`),
      {
        ...record(
          'json',
          { id: 'r {n}{r}', action: 'rename', reason: 'a test', caller: 'slack', to: 'x' },
          `${RECORDED}/corrections`,
        ),
        by: 'admin',
      },
    ],
  ],
  [
    'rules, then what arrived',
    [
      owned(`${OWNED}/projects/demo`, rules, 'PATCH'),
      record('json', traces, '/v1/traces'),
      { ...read(`${RECORDED}/ingestion`, {}), isFixed: true },
    ],
  ],
];

/** Of the project with a long history: as it was, what has changed since, and all that lists its parts. */
function historyReads(shared: string): [string, readonly Request[]][] {
  const past: Tree = { ...(long as object), asOf: '2026-03-02' };
  const paths: readonly (readonly [path: string, given: Tree])[] = [
    ['caller-stats', past],
    ['caller-stats/series', { ...(past as object), interval: 'month', by: 'caller' }],
    ['callers', past],
    ['changes', { ...(long as object), since: '2026-03-02' }],
    ['queries', long],
    ['imported-counts/cuts', long],
    ['imported-counts/cuts', { ...(long as object), interval: 'day' }],
    ['corrections', {}],
    ['corrections', { before: '1200' }],
  ];
  const owned = `${OWNED}/projects/${HISTORY_PROJECT}`;
  return [
    ...paths.map(([path, given], at): [string, readonly Request[]] => {
      return [`history ${at + 1}: ${path}`, [read(`${HISTORY}/${path}`, given)]];
    }),
    ['history: queries in CSV', [{ ...read(`${HISTORY}/queries`, long), accept: 'text/csv' }]],
    ['history: callers in CSV', [{ ...read(`${HISTORY}/callers`, past), accept: 'text/csv' }]],
    ['history: dry run', [{ ...record('json', pastRenaming, `${HISTORY}/corrections`), by: 'admin' }]],
    [
      'history: dry run of ids',
      [{ ...record('json', pastWithdrawal, `${HISTORY}/corrections`), by: 'admin' }],
    ],
    [
      'history: pages: changes',
      [read(`${owned}/changes`, { ...(long as object), since: '2026-03-02' }, 'owner')],
    ],
    [
      'history: pages: cuts',
      [read(`${owned}/imported-counts`, { ...(long as object), interval: 'day' }, 'owner')],
    ],
    ['history: pages: corrections', [read(`${owned}/corrections`, {}, 'owner')]],
    ['history: pages: imports', [read(`${owned}/imports`, {}, 'owner')]],
    ['history: shared cuts', [read(`${shared}/imported-counts`, long, 'anybody')]],
    [
      'history: shared series',
      [read(`${shared}/series`, { ...(long as object), interval: 'day' }, 'anybody')],
    ],
    ...AUDIT_FILTERS.map((given, at): [string, readonly Request[]] => {
      return [`audit ${at + 1}`, [read(`${OWNED}/audit`, given, 'owner')]];
    }),
  ];
}

export function operationsOf(shared: Shared): ReadonlyMap<string, readonly Request[]> {
  const series: Tree = { ...(range as object), interval: 'day' };
  const compared: Tree = { ...(range as object), compare: 'previous', timeZone: 'Europe/Berlin' };
  const changes: Tree = { ...(range as object), since: '2026-01-01' };
  return new Map<string, readonly Request[]>([
    ['queries', [record('json', [query], `${RECORDED}/queries`)]],
    ['query', [record('json', query, `${RECORDED}/queries`)]],
    ['query lines', [record('lines', [query], `${RECORDED}/queries`)]],
    ['imported counts', [{ ...record('json', [count], `${RECORDED}/imported-counts`), by: 'admin' }]],
    ['imported lines', [{ ...record('lines', [count], `${RECORDED}/imported-counts`), by: 'admin' }]],
    ['spans', [record('json', traces, '/v1/traces')]],
    ['spans in protobuf', [record('protobuf', traces, '/v1/traces')]],
    ['log records', [record('json', logs, '/v1/logs')]],
    ['log records in protobuf', [record('protobuf', logs, '/v1/logs')]],
    ['metrics', [record('protobuf', logs, '/v1/metrics')]],
    [
      'rules, then spans',
      [owned(`${OWNED}/projects/demo`, rules, 'PATCH'), record('json', traces, '/v1/traces')],
    ],
    [
      'rules, then detailed spans',
      [
        owned(`${OWNED}/projects/demo`, rules, 'PATCH'),
        { ...record('json', detailedSpans, '/v1/traces'), isFixed: true },
      ],
    ],
    [
      'origins, then pages',
      [
        owned(`${OWNED}/projects/demo`, origins, 'PATCH'),
        { ...record('json', pages, '/v1/traces'), isFixed: true },
      ],
    ],
    [
      'joined rules, then detailed spans',
      [
        owned(`${OWNED}/projects/demo`, joined, 'PATCH'),
        { ...record('json', detailedSpans, '/v1/traces'), isFixed: true },
      ],
    ],
    ...CORRECTIONS,
    ['tools: series', [{ method: 'POST', by: 'admin', form: 'json', body: seriesCall, path: '/mcp' }]],
    ['tools', [{ method: 'POST', by: 'admin', form: 'json', body: call, path: '/mcp' }]],
    ['tokens', [{ method: 'POST', by: 'anybody', form: 'fields', body: fields, path: '/oauth/token' }]],
    ['pipelined', [{ method: 'GET', by: 'anybody', path: '', form: 'pipelined', body: ['GET /x'] }]],
    ['counts', [read(`${REPORTS}/caller-stats`, compared)]],
    ['series', [read(`${REPORTS}/caller-stats/series`, series)]],
    ['series by caller', [read(`${REPORTS}/caller-stats/series`, { ...(series as object), by: 'caller' })]],
    ['callers', [read(`${REPORTS}/callers`, range)]],
    ['changes', [read(`${RECORDED}/changes`, changes)]],
    ['export', [read(`${REPORTS}/queries`, range)]],
    ['cuts', [read(`${RECORDED}/imported-counts/cuts`, range)]],
    ['cut hours', [read(`${RECORDED}/imported-counts/cuts`, { ...(range as object), interval: 'hour' })]],
    ['shared series', [read(`${shared.all}/series`, series, 'anybody')]],
    ['pages: series', [read(`${OWNED}/projects/${PROJECT}/series`, series, 'owner')]],
    ...PAGES,
    ...pageReads(shared.all),
    ...historyReads(shared.history),
  ]);
}
