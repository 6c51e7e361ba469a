/** The import rules of `ARCHITECTURE.md`. */
import { describe, expect, test } from 'vitest';
import { filesBelow, findReachable, importsOf, linesMatching, read, type Source } from './sources.js';

const sources = filesBelow('src', '.ts');
const client = filesBelow('clients/javascript/src', '.ts');
const outside = (...allowed: string[]): Source[] =>
  sources.filter(({ path }) => !allowed.some((prefix) => path.startsWith(prefix)));

/** What files below a folder may import besides `src/shared/`. The first matching rule applies. */
const rules: readonly (readonly [folder: string, allowed: RegExp])[] = [
  ['src/shared/', /^node:/],
  ['src/domain/', /^(src\/domain\/|node:(buffer|crypto|net|zlib)$|fastest-levenshtein$)/],
  ['src/storage/ports/', /^src\/(domain|storage\/ports)\//],
  ['src/storage/commit-queue.ts', /^src\/(domain|storage\/ports)\//],
  ['src/storage/sql/', /^src\/(domain|storage\/(ports|sql))\//],
  [
    'src/storage/sqlite/',
    /^(src\/(domain|storage\/(ports|sql|sqlite))\/|src\/storage\/(commit-queue|recording-check)\.ts$|node:|@photostructure\/sqlite$)/,
  ],
  [
    'src/storage/postgres/',
    /^(src\/(domain|storage\/(ports|sql|postgres))\/|src\/storage\/(commit-queue|recording-check)\.ts$|node:|pg$|pg-connection-string$)/,
  ],
  ['src/storage/series.ts', /^src\/(domain|storage\/ports)\//],
  ['src/storage/', /^(src\/(domain|storage)\/|node:)/],
  [
    'src/auth/',
    /^(src\/(domain|auth|storage\/ports)\/|node:(async_hooks|crypto|net|os|worker_threads)$|better-auth|@better-auth\/kysely-adapter$|@zxcvbn-ts\/language-common$|otpauth$|@simplewebauthn\/server(\/helpers)?$|kysely$|pino$)/,
  ],
  [
    'src/app/notifications/channels/',
    /^(src\/(app|domain)\/|node:|nodemailer$|standardwebhooks$|ipaddr\.js$)/,
  ],
  [
    'src/app/',
    /^(src\/(app|domain|shared|storage\/ports)\/|src\/storage\/(open|series)\.ts$|node:|csv-parse\/sync$|zstddec\/stream$|ajv$|pure-rand\/)/,
  ],
  [
    'src/http/',
    /^(src\/(domain|app|http|auth|storage\/ports)\/|src\/storage\/series\.ts$|node:|fastify$|@fastify\/|ajv$|fast-json-stringify$|pino$|negotiator$|rate-limiter-flexible$|@bufbuild\/protobuf\/wire$)/,
  ],
  [
    'src/observability/metrics/',
    /^(src\/(domain|http|observability\/metrics|storage\/ports)\/|fastify$|pino$|prom-client$)/,
  ],
  [
    'src/observability/tracing/',
    /^(src\/(domain|http|observability\/tracing|storage\/ports)\/|node:async_hooks$|fastify$|pino$|@opentelemetry\/)/,
  ],
  [
    'src/mcp/server.ts',
    /^(src\/(mcp|app|domain)\/|src\/http\/schemas\/|node:stream$|@modelcontextprotocol\/server$|@modelcontextprotocol\/server\/stdio$)/,
  ],
  ['src/mcp/', /^(src\/(mcp|app|domain)\/|src\/http\/schemas\/)/],
  ['src/cli/', /^(src\/|node:|commander$|cli-progress$|pino$|pino-pretty$|fastify$)/],
  ['src/main.ts', /^(src\/cli\/|node:)/],
];

describe('imports', () => {
  test.each(sources.map((source) => [source.path, source] as const))(
    'follow the rules in %s',
    (path, source) => {
      const allowed = rules.find(([folder]) => path.startsWith(folder))?.[1];
      expect(allowed, 'the folder has a rule').toBeDefined();
      const others = importsOf(source).filter((name) => !name.startsWith('src/shared/'));
      expect(others.filter((name) => !allowed?.test(name))).toEqual([]);
    },
  );

  test('never connect runtime code and released migrations', () => {
    const isMigration = (path: string): boolean => /\/migrations\/\d{3}-[a-z-]+\.ts$/.test(path);
    const migrations = sources.filter(({ path }) => isMigration(path));
    expect(migrations.length).toBeGreaterThan(0);
    expect(migrations.flatMap(importsOf)).toEqual([]);
    const importers = sources.filter((source) => importsOf(source).some(isMigration));
    expect(importers.map(({ path }) => path)).toEqual([
      'src/storage/postgres/migrations/index.ts',
      'src/storage/sqlite/migrations/index.ts',
    ]);
  });

  test('have no cycles', () => {
    const imports = new Map(sources.map((source) => [source.path, importsOf(source)]));
    const done = new Set<string>();
    const cycles: string[] = [];
    const visit = (path: string, trail: readonly string[]): void => {
      if (trail.includes(path)) cycles.push([...trail.slice(trail.indexOf(path)), path].join(' > '));
      else if (!done.has(path)) for (const next of imports.get(path) ?? []) visit(next, [...trail, path]);
      done.add(path);
    };
    for (const path of imports.keys()) visit(path, []);
    expect(cycles).toEqual([]);
  });

  test('load each command, and the library of mcp, only when needed', () => {
    const importsAtStart = (path: string) =>
      sources
        .filter((source) => source.path === path)
        .flatMap((source) =>
          importsOf({ ...source, text: source.text.replaceAll(/(?:new URL|import)\('/g, '') }),
        );
    const atStart = findReachable(['src/main.ts'], importsAtStart);
    const program = sources.filter(({ path }) => path === 'src/cli/program.ts');
    const commands = program.flatMap(importsOf).filter((path) => !atStart.has(path));
    expect(commands).toEqual(
      expect.arrayContaining(['src/cli/commands/serve.ts', 'src/cli/commands/mcp.ts']),
    );
    const byCommands = findReachable(commands, importsAtStart);
    expect([...atStart, ...byCommands].filter((path) => /^src\/mcp\//.test(path))).toEqual([]);
  });

  test('reach every file from main.ts or the client', () => {
    const start = ['src/main.ts', ...client.flatMap(importsOf)];
    const reached = findReachable(start, (path) =>
      sources.filter((source) => source.path === path).flatMap(importsOf),
    );
    expect(sources.map(({ path }) => path).filter((path) => !reached.has(path))).toEqual([]);
  });
});

describe('the client', () => {
  test.each(client.map((source) => [source.path, source] as const))(
    'imports only its own files in %s',
    (path, source) => {
      const own =
        /^(clients\/javascript\/src\/|src\/domain\/calendar\/names\.ts$|src\/domain\/queries\/caller-detection\.ts$|src\/shared\/api-client\.ts$)/;
      const node = path === 'clients/javascript/src/spool.ts' ? /^node:(fs|process)$/ : /^$/;
      expect(importsOf(source).filter((name) => !own.test(name) && !node.test(name))).toEqual([]);
    },
  );

  test('shares only files without imports with the server', () => {
    expect(importsOf(read('src/domain/queries/caller-detection.ts'))).toEqual([]);
    expect(importsOf(read('src/domain/calendar/names.ts'))).toEqual([]);
    expect(importsOf(read('src/shared/api-client.ts'))).toEqual([]);
  });

  test('has one place for the clock', () => {
    const others = client.filter(({ path }) => path !== 'clients/javascript/src/platform.ts');
    expect(linesMatching(others, /Date\.now\(|new Date\(\)|performance\.now/)).toEqual([]);
  });
});

describe('the server has one place for', () => {
  test('the clock, the environment and the process: main.ts', () => {
    const pattern = /Date\.now\(|new Date\(\)|performance\.now|\bprocess\./;
    expect(linesMatching(outside('src/main.ts'), pattern)).toEqual([]);
  });

  test('recording: app/record.ts', () => {
    const files = outside('src/app/record.ts', 'src/storage/');
    expect(linesMatching(files, /\bcounts\??\.(record|importCounts)\b/)).toEqual([]);
  });

  test('what requests load: shared/later.ts, so that they need not wait for it', () => {
    const serving = sources.filter(({ path }) => /^src\/(auth|http|mcp)\//.test(path));
    const others = linesMatching(serving, /(?<!typeof )\bimport\('/).filter(
      (line) => !/= later\(/.test(line),
    );
    expect(others).toEqual([]);
  });

  test('the letter case of addresses: domain/people/member.ts', () => {
    // Another way takes letters that are not ASCII, such as the Kelvin sign, for those of a member.
    const pattern = /mail\b[^;]*\.to(Locale)?(Lower|Upper)Case\(|localeCompare\([^;]*mail/i;
    expect(linesMatching(outside('src/domain/people/member.ts'), pattern)).toEqual([]);
  });

  test('environment variables: the settings', () => {
    expect(linesMatching(outside('src/cli/settings/'), /\benv\[|CALLER_STATS_[A-Z_]+'/)).toEqual([]);
  });

  test('SQL: the storage adapters', () => {
    const pattern = /\b(SELECT|INSERT INTO|DELETE FROM|CREATE TABLE|PRAGMA|BEGIN IMMEDIATE)\b/;
    expect(
      linesMatching(outside('src/storage/sql/', 'src/storage/sqlite/', 'src/storage/postgres/'), pattern),
    ).toEqual([]);
  });

  test('removing counters of a SQLite file: the purge and the recording, because a cache relies on revisions', () => {
    const removes = /\b(UPDATE|DELETE FROM|REPLACE INTO|DROP TABLE( IF EXISTS)?)\s+(\w+_counter|\$\{)/;
    const writes = sources.filter(({ path }) => path.startsWith('src/storage/sqlite/'));
    const removing = writes.filter(({ text }) => removes.test(text)).map(({ path }) => path);
    expect(removing).toEqual([
      'src/storage/sqlite/writer/purge.ts',
      'src/storage/sqlite/writer/recording.ts',
    ]);
    const taking = writes
      .filter(({ text }) => /deltas\.add\([^;]*queries/.test(text))
      .map(({ path }) => path);
    expect(taking).toEqual(['src/storage/sqlite/writer/query-changes.ts']);
    const adding = writes
      .filter(({ text }) => /\bINTO (\w+_counter|\$\{)|new CounterInsert/.test(text))
      .map(({ path }) => path);
    expect(adding).toEqual([
      'src/storage/sqlite/writer/counter-insert.ts',
      'src/storage/sqlite/writer/recording.ts',
    ]);
  });

  test('HTTP statuses: the error tables, the responses of the dashboard and of OAuth, and missing pages', () => {
    const files = outside(
      'src/http/server/errors.ts',
      'src/http/routes/applications.ts',
      'src/http/routes/corrections.ts',
      'src/http/connection/connection-errors.ts',
      'src/http/dashboard/requests.ts',
      'src/http/server/files.ts',
    );
    expect(linesMatching(files, /\.(code|status)\(\d{3}\)/)).toEqual([]);
  });

  test('totals: domain/counting/counts.ts', () => {
    expect(linesMatching(outside('src/domain/counting/counts.ts'), /total:\s*(?!count\()[^;]*\+/)).toEqual(
      [],
    );
  });
});
