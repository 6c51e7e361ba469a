/**
 * Nothing crosses shards. On Citus all rows of a project lie on one server: every unique key of a table that grows
 * begins with the project, and every statement of recording and counting names one project for each such table.
 * Reads the schema from a real server and every statement from the program; what is new must be put into a class here.
 */
import { expect, inject, test } from 'vitest';
import { type CorrectionRequest, splitRequest } from '../../../src/domain/corrections/correction.js';
import { NO_FIGURES } from '../../../src/domain/corrections/figures.js';
import { ALL_TIME } from '../../../src/domain/counting/date-range.js';
import { SELECTING } from '../../../src/storage/postgres/connection/cluster.js';
import { dialectFor } from '../../../src/storage/postgres/dialect.js';
import { SHARDED_TABLES } from '../../../src/storage/postgres/migrations/distribute.js';
import { MIGRATIONS } from '../../../src/storage/postgres/migrations/index.js';
import { PostgresQueryChanges } from '../../../src/storage/postgres/query-rows.js';
import { statementsIn } from '../../../src/storage/postgres/statements/statements.js';
import {
  SqlCorrectionChanges,
  SqlCorrectionReads,
} from '../../../src/storage/sql/corrections/corrections.js';
import { SqlDirectoryChanges } from '../../../src/storage/sql/directory-changes.js';
import { SqlDirectoryReads } from '../../../src/storage/sql/directory-reads.js';
import { SqlHistory } from '../../../src/storage/sql/history.js';
import { SqlIdentityChanges } from '../../../src/storage/sql/identities/identity-changes.js';
import { SqlIngestionChanges, SqlIngestionReads } from '../../../src/storage/sql/ingestion.js';
import { SqlNotificationChanges, SqlNotificationReads } from '../../../src/storage/sql/notifications.js';
import type { Session } from '../../../src/storage/sql/session.js';
import { SqlThrottleChanges } from '../../../src/storage/sql/throttles.js';
import { newSchemaIn, onDatabase, openForTest, schemaOf } from '../../support/storage/store.js';

/** Few rows, read and written by the coordinator alone: no request of one project waits for another's server. */
const LOCAL_TABLES = [
  'schema_version',
  'organization',
  'api_key',
  'share_link',
  'member',
  'audit',
  'invitation',
  'server_secret',
  'login_throttle',
  'user_account',
  'user_session',
  'user_credential',
  'user_verification',
  'user_second_factor',
  'user_passkey',
  'user_organization',
  'notification',
  'notification_delivery',
];

/** Statements that may read all projects: for people who manage them, and for verification. */
const ACROSS_PROJECTS: readonly string[] = [
  'listProjects 1',
  'countProjects 1',
  'listProjectIds',
  'readProjects',
  'listStrayIds',
  'findDeleted',
  'listRetentions',
  'listOutdated 1',
  'listOutdated 2',
  'listOutdated 3',
  'listUnfinished 1',
];

/** Statements that run only where there is no cluster. */
const WITHOUT_CLUSTER: readonly string[] = ['recordOneProved'];

type ShardedTable = keyof typeof SHARDED_TABLES;
const isSharded = (table: string): table is ShardedTable => Object.hasOwn(SHARDED_TABLES, table);

/** What is wrong with one SQL statement on the schema `s`; `one` is how it names its one project. */
function problemsOf(text: string, one: string): string[] {
  const named = [...text.matchAll(/\b(FROM|JOIN|INTO|UPDATE)\s+s\.(\w+)(\()?/g)].flatMap(
    ([, how = '', table = '', call]) => (call === undefined ? [{ how, table }] : []),
  );
  const sharded = named.filter(({ table }) => isSharded(table));
  if (sharded.length === 0) return [];
  const problems = named
    .filter(({ table }) => !isSharded(table))
    .map(({ table }) => `reads ${table} as well`);
  const times = new Map<string, number>();
  for (const { how, table } of sharded) times.set(`${how} ${table}`, (times.get(`${how} ${table}`) ?? 0) + 1);
  for (const [name, expected] of times) {
    const [how = '', table = ''] = name.split(' ');
    const bound = [...text.matchAll(boundTo(one, how, table as ShardedTable))].length;
    if (bound !== expected) problems.push(`${name}: ${bound} of ${expected} name one project`);
  }
  return problems;
}

/** How a part of a statement looks that reads or writes one project's rows of a table. */
function boundTo(one: string, how: string, table: ShardedTable): RegExp {
  const project = `${one.replace('$', '\\$')}(?!\\w)`;
  const key = SHARDED_TABLES[table];
  if (how === 'UPDATE')
    return new RegExp(`UPDATE s\\.${table} SET [^;()]*? WHERE ${key} = ${project}(?! OR\\b)`, 'g');
  // A project that is read from its table is the one that the rule for that table finds.
  return how === 'INTO'
    ? new RegExp(
        `INTO s\\.${table}(?: AS \\w+)? \\(${key}, [^)]*\\)\\s+(?:SELECT project\\.id,|(?:SELECT\\s+|VALUES\\s+\\()${project},)`,
        'g',
      )
    : new RegExp(`s\\.${table}\\s+WHERE (?:${table}\\.)?${key} = ${project}(?! OR\\b)`, 'g');
}

/** Stands for every argument and every row of the directory: it has all the fields that a rule reads. */
const anything = {
  ...{ id: 'x', organizationId: 'x', projectId: 'x', name: 'x', email: 'x', role: 'editor', at: 1, limit: 1 },
  ...{ scopes: [], allow: [], action: 'key.create', actor: 'x', targetId: 'x', from: 1, to: 2, before: 3 },
};

/** Requests that each read and write in another way. */
const corrections: readonly CorrectionRequest[] = [
  { id: 'x', reason: 'x', action: 'undo', correction: 'y' },
  { id: 'x', reason: 'x', action: 'rename', selection: { ids: ['x'] }, to: 'y' },
  { id: 'x', reason: 'x', action: 'withdraw', selection: { source: 'x' } },
  ...(['x', null] as const).map(
    (caller): CorrectionRequest => ({
      ...{ id: 'x', reason: 'x', action: 'withdraw' },
      selection: { range: ALL_TIME, caller, receipts: { from: 1, to: 2, sender: undefined } },
    }),
  ),
];

/** Rows that differ from `anything`, so that a change has an effect. */
const rows = corrections.map((request) => ({
  ...{ ...anything, name: 'y', number: 1, occurredAt: 1, caller: 'x', level: 0, rowsFrom: 1 },
  ...{
    request: JSON.stringify(splitRequest(request).summary),
    ids: '["x"]',
    figures: JSON.stringify(NO_FIGURES),
  },
  ...{ finishedAt: 1, undoneBy: null, start: 1, queries: 0, withdrawnBy: 1 },
}));

/** The classes that `statementsIn` does not cover. */
const IMPLEMENTATIONS = [
  SqlDirectoryReads,
  SqlDirectoryChanges,
  SqlThrottleChanges,
  SqlIdentityChanges,
  SqlIngestionReads,
  SqlIngestionChanges,
  SqlNotificationReads,
  SqlNotificationChanges,
  SqlCorrectionReads,
  SqlCorrectionChanges,
  SqlHistory,
] as const;

function methodsOf({ prototype }: (typeof IMPLEMENTATIONS)[number]): string[] {
  return Object.getOwnPropertyNames(prototype).filter((name) => name !== 'constructor');
}

function argumentsOf(name: string, request: CorrectionRequest): unknown[] {
  const args: unknown[] = Array.from({ length: 5 }, () => anything);
  if (name === 'changeKey') args[2] = 'revoke';
  if (name === 'add') args[1] = [{ ...anything, operations: new Map([['x', 1]]), counts: {} }];
  if (name === 'accept' || name === 'measure') args[1] = request;
  if (name === 'measure' || name === 'readPast') args[2] = null;
  if (name === 'restore')
    args[1] = { ...anything, idsHash: null, figures: NO_FIGURES, request: splitRequest(request).summary };
  if (name === 'restoreChanges') args[1] = [{ id: 'x', changes: [{ correction: 'x', caller: 'y' }] }];
  if (name === 'restoreWithdrawals')
    args[1] = [{ source: 'x', caller: 'x', start: 1, withdrawals: [], withdrawnBy: null }];
  if (name === 'identify') args[1] = [{ traceId: 'x', service: 'x' }];
  return args;
}

/** The statements that a method runs, if it finds and changes what it looks for, and if not. */
async function statementsRunBy(type: (typeof IMPLEMENTATIONS)[number], name: string) {
  const texts = new Set<string>();
  for (const [isFound, changes] of [
    [true, 1],
    [true, 0],
    [false, 0],
  ] as const) {
    for (const [at, request] of corrections.entries()) {
      const session: Session = {
        all: <R>(text: string) => (texts.add(text) && isFound ? [rows[at] as R] : []),
        run: (text) => (texts.add(text) ? changes : 0),
      };
      const changesOf = new PostgresQueryChanges(session, statementsIn('s'));
      const methods = new type(session, dialectFor('s'), changesOf);
      const run = Reflect.get(methods, name) as (...args: unknown[]) => Promise<unknown>;
      // Refused, where it does not find what it looks for.
      await Reflect.apply(run, methods, argumentsOf(name, request)).catch(() => undefined);
    }
  }
  return [...texts].map((text, at) => [`${name} ${at + 1}`, text] as const);
}

const implemented = IMPLEMENTATIONS.flatMap((type) =>
  methodsOf(type).map((name) => statementsRunBy(type, name)),
);
const statements: Readonly<Record<string, string>> = {
  ...statementsIn('s'),
  ...Object.fromEntries((await Promise.all(implemented)).flat()),
};
const withinProject = Object.entries(statements).filter(
  ([name]) => ![...ACROSS_PROJECTS, ...WITHOUT_CLUSTER].some((one) => one === name),
);

test('checks the statements of the directory and of throttles as well', () => {
  for (const name of [
    'findProject 1',
    'createProject 2',
    'createProject 8',
    'changeProject 2',
    'deleteProject 4',
    'createKey 3',
  ])
    expect(statements[name], name).toMatch(/\bs\.project\b/);
  for (const type of IMPLEMENTATIONS)
    for (const name of methodsOf(type)) expect(statements).toHaveProperty([`${name} 1`]);
});

test('finds statements that are wrong', () => {
  const wrong = [
    'SELECT * FROM s.query WHERE id = $1',
    'SELECT * FROM s.query WHERE project_id = $1 AND id IN (SELECT id FROM s.query)',
    'SELECT * FROM s.query WHERE project_id = $1 OR id = $2',
    'SELECT * FROM s.query JOIN s.organization ON true WHERE project_id = $1',
    'SELECT * FROM s.query WHERE project_id = $10',
    'INSERT INTO s.caller_type_counter (level, bucket) VALUES ($1, $2)',
    'INSERT INTO s.caller_type_counter (project_id, level) VALUES ($2, $1)',
    'INSERT INTO s.query (project_id, id) SELECT project.id, $2 FROM s.project',
    'INSERT INTO s.query (project_id, id) SELECT project.id, $2 FROM s.project WHERE project.id <> $1',
    'UPDATE s.project SET name = $1',
    'UPDATE s.project SET name = $1 WHERE name = $1',
  ];
  for (const text of wrong) expect(problemsOf(text, '$1'), text).not.toEqual([]);
});

test.each(withinProject)('the statement %s reads and writes one project', (_name, text) => {
  expect(problemsOf(text, '$1')).toEqual([]);
});

test('statements that read all projects read no other kind of table', () => {
  for (const name of ACROSS_PROJECTS) {
    const tables = [...(statements[name] ?? '').matchAll(/s\.(\w+)/g)].map(([, table]) => table ?? '');
    expect(tables.filter((table) => !isSharded(table))).toEqual([]);
  }
});

test('every statement in database functions reads and writes one project', () => {
  const definitions = MIGRATIONS.flatMap((migration) => [
    ...migration('s')
      .join('')
      .matchAll(/CREATE (?:OR REPLACE )?FUNCTION s\.(\w+)\([^$]*\$function\$(.*?)\$function\$/gs),
  ]);
  // Of a function that was replaced, the last is there.
  const functions = new Map(definitions.map(([, name, body = '']) => [name, body]));
  expect([...functions.keys()].toSorted()).toEqual([
    'find_access',
    'import_counts',
    'record',
    'record_one',
    'refuse_change',
  ]);
  for (const body of functions.values()) {
    for (const text of body.split(';')) expect(problemsOf(text, 'asked_project')).toEqual([]);
  }

  const changes = [...functions.values()]
    .flatMap((body) => body.split(';'))
    .filter((text) => text.includes('INSERT'));
  // Citus would involve all its servers.
  expect(changes.filter((text) => /\bWITH\s+(?!ORDINALITY\b)/.test(text))).toEqual([]);
  // They hold the shard on a cluster.
  for (const [name, body] of functions) {
    const selects = body.split(';').some((text) => /\bINSERT INTO s\.\w+ [^)]*\)\s+SELECT\b/.test(text));
    expect(SELECTING.includes(name ?? ''), name).toBe(selects);
  }
  // Citus would keep a plan of each execution in memory.
  const ofOneRow = changes.filter((text) => /\)\s+VALUES\b/.test(text));
  expect(ofOneRow).toHaveLength(9);
  expect(ofOneRow.filter((text) => !text.includes('random()'))).toEqual([]);
});

test.each(inject('postgresServers'))(
  'every unique key begins with the project, and no foreign key leaves it: $version',
  async ({ url }) => {
    const schemaUrl = newSchemaIn(url);
    const schema = schemaOf(schemaUrl);
    await openForTest(schemaUrl);
    await onDatabase(url, async (client) => {
      const tables = await client.query('SELECT tablename FROM pg_tables WHERE schemaname = $1', [schema]);
      const names: string[] = tables.rows.map(({ tablename }) => tablename);
      expect(names.toSorted()).toEqual([...LOCAL_TABLES, ...Object.keys(SHARDED_TABLES)].toSorted());

      const keys = await client.query(
        `SELECT class.relname AS table, attribute.attname AS first, sorted.collname AS collation
       FROM pg_index AS key
       JOIN pg_class AS class ON class.oid = key.indrelid
       JOIN pg_namespace AS schema ON schema.oid = class.relnamespace AND schema.nspname = $1
       JOIN pg_attribute AS attribute ON attribute.attrelid = class.oid AND attribute.attnum = key.indkey[0]
       LEFT JOIN pg_collation AS sorted ON sorted.oid = attribute.attcollation
       WHERE key.indisunique ORDER BY 1`,
        [schema],
      );
      expect(keys.rows.filter((row) => isSharded(row.table))).toEqual(
        Object.entries(SHARDED_TABLES)
          .toSorted()
          .map(([table, first]) => ({ table, first, collation: 'C' })),
      );

      const foreign = await client.query(
        `SELECT DISTINCT class.relname AS table FROM pg_constraint AS link
       JOIN pg_namespace AS schema ON schema.oid = link.connamespace AND schema.nspname = $1
       JOIN pg_class AS class ON class.oid IN (link.conrelid, link.confrelid)
       WHERE link.contype = 'f'`,
        [schema],
      );
      expect(foreign.rows.map((row) => row.table).filter(isSharded)).toEqual([]);
    });
  },
);
