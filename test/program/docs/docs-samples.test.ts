/** Runs every code block of the README and the docs, except those in `NOT_HERE`, each with the reason or another test. */
import { symlink, writeFile } from 'node:fs/promises';
import { join } from 'node:path';
import { describe, expect, inject, test } from 'vitest';
import { programInShell, runCommand } from '../../support/cli/cli.js';
import {
  copyOfOpen,
  emptyPlace,
  makeKey,
  type Place,
  placeWithDemo,
  placeWithProject,
  placeWithSample,
  project,
  succeed,
} from '../../support/cli/cli-place.js';
import { type Sample, samples, stepsOf } from '../../support/cli/samples.js';
import { newSchemaIn } from '../../support/storage/store.js';
import { isDeep } from '../../support/volume.js';
import { root } from '../../tidy/sources.js';

/** Blocks that are not run here, by the start of their name, and why. */
const NOT_HERE: Readonly<Record<string, string>> = {
  'README.md: npm ci && npm start':
    'CI begins with npm ci; test/program/run/first-run.test.ts starts with --demo',
  'docs/index.md: npm ci && npm start': 'the same',
  'README.md: npm ci && npm test': 'is what CI runs',
  'README.md: caller-stats listens on': 'what a server prints; test/program/run/first-run.test.ts',
  'docs/index.md: caller-stats listens on': 'the same',
  'docs/guides/read/changes.md: $ caller-stats changes':
    'the numbers of a made-up project; test/program/record/correct-command.test.ts has others',
  'docs/guides/read/changes.md: caller-stats stats docs': 'the same',
  'docs/guides/run/sign-in.md: Set up the dashboard': 'the same',
  'docs/index.md: export ADMIN_KEY':
    'the keys of the reader, cut short; each block below runs with such variables',
  'README.md: export ADMIN_KEY': 'the same',
  'docs/index.md: alias caller-stats':
    'aliases are for shells of people; the blocks run with a function of that name',
  'README.md: const recorder': 'test/program/client/docs-samples.test.ts',
  'clients/javascript/README.md: npm install':
    'test/program/client/package.test.ts packs the client, and installs it so',
  'docs/guides/record/client.md: npm install': 'the same',
  'docs/guides/record/recipes-java.md: mvn install': 'npm run test:sdks installs and runs it',
  'docs/guides/record/recipes-java.md: export OTEL_EXPORTER_OTLP_HEADERS': 'the same; it starts the agent',
  'clients/javascript/README.md: import': 'test/program/client/docs-samples.test.ts',
  'docs/guides/record/client.md: import':
    'test/program/client/docs-samples.test.ts; of the middleware for Next.js test/program/client/next.test.ts',
  'docs/guides/record/record.md: import': 'test/program/client/docs-samples.test.ts',
  'docs/guides/record/client.md: const id': 'test/program/client/docs-samples.test.ts',
  'docs/guides/record/client.md: process.once': 'test/program/client/docs-samples.test.ts',
  ...Object.fromEntries(
    ['client.md: pip', 'client.md: from', 'client.md: go'].map((start) => [
      `docs/guides/record/${start}`,
      'clients/python/tests/test_docs.py or clients/go/docs_test.go, by npm run test:clients',
    ]),
  ),
  'docs/guides/record/recipes.md: export': 'an address of the reader',
  ...Object.fromEntries(
    ['#', 'ruby', '<?php', 'php'].map((program) => [
      `docs/guides/record/recipes.md: ${program}`,
      'test/program/client/recipes.test.ts runs those whose language is on the machine',
    ]),
  ),
  'CONTRIBUTING.md: npm run test:deep': 'a release; test/scripts/release.test.ts',
  'CONTRIBUTING.md: CALLER_STATS_TEST_DATABASE_URL': 'a database of the reader',
  'docs/tutorial.md: npm ci': 'as in the README',
  'docs/tutorial.md: alias caller-stats': 'aliases are for shells of people',
  'docs/tutorial.md: // ': 'test/program/client/tutorial.test.ts',
  'docs/tutorial.md: curl': 'the same',
  'docs/tutorial.md: CALLER_STATS_URL': 'the same',
  'docs/tutorial.md: export OTEL_':
    'test/program/record/otlp-exporters.test.ts sends what these variables make SDKs send',
  'docs/reference/errors.md: {': 'a response; test/program/read/parameters.test.ts',
  'docs/concepts/privacy.md: PRAGMA': 'for the database of the reader; test/program/sign-in/erasure.test.ts',
  'SECURITY.md: \\bcs_': 'a pattern; test/domain holds keys to it',
  'docs/guides/run/sign-in.md: caller-stats member reset':
    'for a user who has joined; test/program/sign-in has that',
  'docs/concepts/time.md': 'answers, cut short; test/program/read/every-way.test.ts',
  'docs/reference/commands.md': 'what --help prints; test/tidy/commands-page.test.ts',
  'docs/guides/run/moving.md: docs: the target': 'what a run says; test/program/backup/copy-live.test.ts',
  'docs/guides/record/opentelemetry.md: OTEL_':
    'variables of other programs; test/program/record/otlp-exporters.test.ts sends what they make SDKs send',
  'docs/guides/record/opentelemetry.md: import':
    "a line of the reader's program; test/sdks/scenarios does it",
  'docs/reference/settings.md: [databases]':
    'test/program/postgres/pgbouncer.deep.test.ts runs PgBouncer with it',
  'docs/guides/record/opentelemetry.md: processors':
    'a configuration of a collector; test/sdks/collector.deep.test.ts runs it in one',
  ...Object.fromEntries(
    ['export', 'npm', '// '].map((program) => [
      `docs/guides/record/recipes-sdks.md: ${program}`,
      'programs for other packages; test/sdks/rows/recipes.ts',
    ]),
  ),
  ...Object.fromEntries(
    [
      'python.md: pip',
      'python.md: # ',
      'go.md: go mod',
      'go.md: // ',
      'java.md: # ',
      'java.md: //',
      'java.md: <',
    ].map((start) => [
      `docs/guides/record/recipes-${start}`,
      'test/sdks/services.deep.test.ts runs the programs',
    ]),
  ),
  'docs/guides/record/recipes-logs.md':
    'configurations of log shippers; test/program/client/platforms.test.ts sends what they send',
  'docs/guides/record/recipes-serverless.md': 'test/program/client/platforms.test.ts',
  'docs/guides/read/sharing.md':
    'addresses; test/program/dashboard/share-links.test.ts and test/browser/dashboard-sharing.test.ts',
  'docs/guides/read/alerts.md':
    'test/program/notifications/channels.test.ts runs the function; the others are examples',
  'docs/guides/record/corrections.md':
    'queries, senders and sources of the reader; test/program/record/correct-command.test.ts and corrections.test.ts',
  ...Object.fromEntries(
    ['psql', 'CREATE', 'SELECT', 'import'].map((start) => [
      `docs/guides/read/reading.md: ${start}`,
      'clients/python/tests/test_export.py',
    ]),
  ),
  'docs/engineering/tested.md': 'measurements of the reader',
  ...Object.fromEntries(
    [
      '$ caller-stats stats',
      'curl -sSf',
      'printf',
      'caller-stats stats',
      'https:',
      '=IMPORTDATA',
      'address <-',
      'SET',
      'function',
      'let',
      'node',
      'library',
      'claude',
      '{',
      '"callers"',
    ].map((start) => [
      `docs/guides/read/reading.md: ${start}`,
      'test/program/docs/reading-docs.test.ts and test/program/read/every-way.test.ts; clients/python/tests/test_tables.py; spreadsheets, R and httpfs of DuckDB are not here',
    ]),
  ),
  'docs/guides/run/operate.md: {"error"': 'test/program/protocol/unavailable.test.ts',
  'docs/guides/run/operate.md: {"status"': 'test/program/protocol/unavailable.test.ts',
  'docs/guides/run/operate.md: $ caller-stats serve --metrics':
    'a server that stays; test/program/run/operate.test.ts',
  'docs/guides/run/operate.md: $ OTEL_EXPORTER_OTLP_ENDPOINT':
    'a server that stays; test/program/run/tracing.test.ts',
  'docs/guides/run/citus.md':
    'several servers with Citus, which CI does not have; the page says what was run',
  'docs/guides/run/failover.md': 'several servers of the reader; test/program/postgres/failover.test.ts',
  ...Object.fromEntries(
    ['REPO=', 'tar', 'npm', 'docker', 'cosign', 'sudo'].map((start) => [
      `docs/guides/run/install.md: ${start}`,
      'downloads releases, and needs root and services; test/program/package/package.deep.test.ts installs the package, test/tidy/deploy.test.ts reads the services',
    ]),
  ),
  'docs/guides/run/backup.md: sudo': 'systemd; test/tidy/deploy.test.ts reads the services',
  'docs/guides/run/backup.md: [Service]': 'systemd; test/program/backup/backup.test.ts runs its command',
  'docs/guides/run/backup.md: [Timer]': 'systemd',
  'docs/guides/run/install.md: caller-stats serve --base-path':
    'a server that stays; test/program/protocol/base-path.test.ts',
  'docs/reference/versioning.md: git switch': 'a clone of the reader; CI builds the site',
  'docs/reference/settings.md: GRANT': 'test/program/postgres/privileges.test.ts',
  'docs/guides/record/import.md: $ caller-stats import traces.jsonl':
    'needs a key for recording; test/program/import/import-otlp.test.ts',
  'docs/guides/record/import.md: 192.0.2.1': 'a line of a log, which the import below it reads',
};

const isHere = ({ name }: Sample) => !Object.keys(NOT_HERE).some((beginning) => name.startsWith(beginning));

test('every block that is not run here has a reason, and no reason is without a block', () => {
  const names = samples().map(({ name }) => name);
  for (const [beginning, reason] of Object.entries(NOT_HERE)) {
    expect(
      names.filter((name) => name.startsWith(beginning)),
      beginning,
    ).not.toEqual([]);
    expect(reason).not.toBe('');
  }
  const run = samples().filter(isHere);
  expect(run.map(({ page }) => page).filter((page) => !(page in PAGES))).toEqual([]);
});

/** Runs the blocks of a page in their order, with a command `caller-stats` and the variables that earlier blocks set. */
async function runPage(
  page: string,
  place: Place,
  address: string,
  given: Record<string, string>,
  replaced: Readonly<Record<string, string>> = {},
): Promise<void> {
  const blocks = samples().filter((sample) => sample.page === page && isHere(sample));
  expect(blocks.length).toBeGreaterThan(0);
  const steps = blocks
    .filter(({ language }) => language !== 'json' && language !== 'csv')
    .flatMap(({ code, name }) => stepsOf(code).map((step) => ({ ...step, name })));
  let current = place;
  const env: Record<string, string> = { ...place.env, ...given };
  for (const { command, output, name } of steps) {
    const here = Object.entries(replaced).reduce(
      (text, [from, to]) => text.replaceAll(from, `'${to}'`),
      adapt(command, place, address),
    );
    if (here.includes('caller-stats restore')) {
      // It needs a database that nothing has open.
      current = await copyOfOpen(current);
      Object.assign(env, current.env);
    }
    const outcome = await runStep(here, current, env);
    const status = / bad$/.test(output ?? '') ? 1 : 0;
    expect({ status: outcome.status }, `${name}\n${outcome.printed}`).toEqual({ status });
    if (output !== undefined) expect(lastLines(outcome.printed, output), name).toBe(output);
    Object.assign(env, outcome.variables);
  }
}

/** The command with this server and this folder in place of the reader's. */
function adapt(command: string, { folder }: Place, address: string): string {
  return command
    .trimEnd()
    .replaceAll('node dist/main.js', 'caller-stats')
    .replaceAll('http://127.0.0.1:4000', address)
    .replaceAll('sqlite:./data/', `sqlite:${folder}/`)
    .replaceAll('/backups/', `${folder}/backup-of-`)
    .replaceAll('/var/log/nginx/', `${folder}/`)
    .replace(/https:\/\/api\.example\.com(.* --source-project) \S+/, `${address}$1 demo`);
}

interface Result {
  readonly status: number | null;
  readonly printed: string;
  /** Those that the command exports. */
  readonly variables?: Readonly<Record<string, string>>;
}

/** Runs a command within this process if it is one of the program's alone, else in a shell. */
async function runStep(
  command: string,
  place: Place,
  env: Readonly<Record<string, string>>,
): Promise<Result> {
  const shell = (script: string) => runCommand('bash', ['--norc', '-c', script], { env, cwd: place.folder });
  if (/^caller-stats (?:[^\n|<>;&$`]|\\\n)+$/.test(command)) {
    const { stdout: words } = await shell(`caller-stats() { printf '%s\\0' "$@"; }\n${command}`);
    const { status, stdout, stderr } = await place.run(words.split('\0').slice(0, -1), { env });
    return { status, printed: stderr + stdout };
  }
  const program = `caller-stats() { ${programInShell} "$@"; }`;
  const [, variable] = /^export (\w+)=(?!…)/.exec(command) ?? [];
  const value = variable === undefined ? '' : `printf '\\n%s' "$${variable}"`;
  const { status, stdout } = await shell(`set -e; exec 2>&1\n${program}\n${command}\n${value}`);
  if (variable === undefined) return { status, printed: stdout };
  const lines = stdout.split('\n');
  return { status, printed: lines.slice(0, -1).join('\n'), variables: { [variable]: lines.at(-1) ?? '' } };
}

/** The last lines, as many as the page shows: curl prints its progress before. */
function lastLines(printed: string, shown: string): string {
  const lines = printed.trimEnd().split(/\r|\n/);
  return lines.slice(-shown.split('\n').length).join('\n');
}

/** On a server with the sample's events in the project `demo`. */
async function onDemo(
  page: string,
  also: (place: Place) => Promise<unknown> = async () => {},
): Promise<void> {
  const place = await placeWithDemo();
  const server = await place.serve();
  const { admin, recording } = place.firstRun;
  await symlink(join(root, 'demo'), place.path('demo'));
  await also(place);
  await runPage(page, place, server.url, { ADMIN_KEY: admin, RECORDING_KEY: recording });
}

/** On an empty server: the page creates its project and key. */
async function onEmpty(page: string): Promise<void> {
  const place = await emptyPlace();
  const server = await place.serve();
  await runPage(page, place, server.url, {});
}

/** On a server with an empty project `docs`, the files that the page imports, and the sample's events, which it imports from there. */
async function onImports(page: string): Promise<void> {
  const place = await placeWithDemo();
  const { admin } = place.firstRun;
  await succeed(place.run(['project', 'create', 'Docs', '--id', project]));
  const write = (name: string, lines: readonly string[]) =>
    writeFile(place.path(name), `${lines.join('\n')}\n`);
  const numbered = (count: number, line: (at: number) => string) =>
    Array.from({ length: count }, (_, at) => line(at));
  await symlink(join(root, 'demo/changes.ndjson.gz'), place.path('changes.ndjson.gz'));
  const exported = {
    'goatcounter.csv': 'goatcounter.csv',
    'website_event.csv': 'umami-website_event.csv',
    'posthog.jsonl': 'posthog.jsonl',
    'imported_custom_events.csv': 'plausible-imported_custom_events_20260530_20260602.csv',
    'page-1.json': 'conversations.json',
    'page-2.json': 'conversations.json',
  };
  for (const [name, sample] of Object.entries(exported)) {
    await symlink(join(root, 'test/samples/exports', sample), place.path(name));
  }
  await write('wrong.csv', [
    'id,caller,occurredAt',
    'w-1,web,2016-06-15T12:00:00Z',
    'w-2,web,2016-06-15T12:00:01Z',
  ]);
  await write('right.csv', [
    'id,caller,occurredAt',
    'r-1,web,2026-06-15T12:00:00Z',
    'r-2,web,2026-06-15T12:00:01Z',
  ]);
  await write('messages.csv', [
    'sent_at,question,message_id,origin',
    '2026-06-15 12:00:00,How do I sign in?,81234,Docs Site',
  ]);
  const event = (eventType: string, at: number) =>
    JSON.stringify({
      eventType,
      payload: { event_id: `e-${at}`, created_at: '2026-06-15T12:00:00Z', properties: { source: 'docs' } },
    });
  await write(
    'events.ndjson.zst',
    numbered(12_000, (at) => event(at < 3_100 ? 'docs.assistant.completed' : 'docs.page.viewed', at)),
  );
  const request = (path: string, at: number) =>
    `192.0.2.1 - - [15/Jun/2026:14:00:00 +0200] "POST ${path}?${at} HTTP/2.0" 200 512 "https://docs.example.com/start" "Mozilla/5.0"`;
  await write(
    'access.log',
    numbered(48_210, (at) => request(at < 3_105 ? '/assistant/message' : '/search', at)),
  );
  await write('today.ndjson', [
    '{"id": "t-1", "caller": "web"}',
    '{"id": "t-2", "caller": "The Site"}',
    '{"id": "t-3", "caller": "web"}',
  ]);
  await writeFile(
    place.path('2023.csv'),
    samples().find((one) => one.page === page && one.code.startsWith('date,'))?.code ?? '',
  );
  const server = await place.serve();
  await runPage(page, place, server.url, { ADMIN_KEY: admin, CALLER_STATS_SOURCE_KEY: admin });
}

/** With two keys, and the sample's events in the project `docs`, which the page copies to PostgreSQL. */
async function onTwoDatabases(page: string): Promise<void> {
  const place = await placeWithSample();
  for (const type of ['admin', 'recording'] as const) await makeKey(place, type);
  const [server] = inject('postgresServers');
  if (server === undefined) throw new Error('No PostgreSQL server was started.');
  const target = { 'postgres://stats@db.example.com/stats': newSchemaIn(server.url) };
  await runPage(page, place, '', {}, target);
}

/** With an empty project `docs`, and without a server. */
const onProject = async (page: string) => runPage(page, await placeWithProject(), '', {});

/** How to run the blocks of each page. */
const PAGES: Readonly<Record<string, (page: string) => Promise<void>>> = {
  'README.md': onDemo,
  'docs/index.md': onDemo,
  'docs/guides/record/record.md': onDemo,
  'docs/guides/read/reading.md': onDemo,
  'docs/guides/run/keys.md': onDemo,
  'docs/concepts/queries.md': onDemo,
  'docs/concepts/exactness.md': onDemo,
  'docs/tutorial.md': onEmpty,
  'docs/guides/run/sign-in.md': onProject,
  'docs/guides/run/install.md': onEmpty,
  'docs/guides/run/backup.md': onProject,
  'docs/guides/run/moving.md': onTwoDatabases,
  'docs/guides/record/import.md': onImports,
  'docs/guides/record/opentelemetry.md': onDemo,
  'docs/guides/record/recipes.md': onProject,
  'docs/guides/record/recipes-sdks.md': onProject,
  'docs/guides/record/recipes-python.md': onProject,
  'docs/guides/record/recipes-go.md': onProject,
  'docs/guides/record/recipes-java.md': onProject,
};

/** Pages for the deep run only: this one copies the sample to PostgreSQL, as test/program/backup/copy.test.ts does in every run. */
const DEEP: readonly string[] = ['docs/guides/run/moving.md'];

describe('the blocks of a page work and print what it shows:', () => {
  const run = Object.entries(PAGES).filter(([page]) => isDeep || !DEEP.includes(page));
  test.each(run)('%s', async (page, runBlocks) => {
    await runBlocks(page);
  });
});

describe('sample files of the page about imports can be imported:', () => {
  const imported = samples().filter(({ page }) => page === 'docs/guides/record/import.md');
  test.concurrent.each([
    ['{ "id"', 'a.ndjson', []],
    ['id,caller', 'a.csv', []],
    ['{ "eventType"', 'a.ndjson', ['--format', 'stream', '--caller', 'web']],
    ['192.0.2.1', 'a.log', ['--format', 'access-log', '--path', '^/assistant/', '--caller', 'web']],
  ])('%s…', async (beginning, name, args) => {
    const place = await placeWithProject();
    const { code = '' } = imported.find((one) => one.code.startsWith(beginning)) ?? {};
    await writeFile(place.path(name), code);
    const { stdout } = await succeed(place.run(['import', place.path(name), '--project', project, ...args]));
    expect(stdout).toBe('1 read, 1 recorded, 0 duplicates\n');
  });

  test('caller rules', async () => {
    const place = await placeWithProject();
    const { code = '' } = imported.find((one) => one.code.includes('"fallback"')) ?? {};
    const { code: line = '' } = imported.find((one) => one.code.startsWith('192.0.2.1')) ?? {};
    await writeFile(place.path('rules.json'), code);
    await writeFile(place.path('a.log'), line);
    const format = ['--format', 'access-log', '--path', '^/assistant/'];
    const rules = ['--caller-rules', place.path('rules.json')];
    await succeed(place.run(['import', place.path('a.log'), '--project', project, ...format, ...rules]));
    const { stdout } = await succeed(place.run(['stats', project, '--callers', '--json']));
    expect(JSON.parse(stdout)).toMatchObject({ callers: [{ caller: 'web', count: 1 }] });
  });
});
