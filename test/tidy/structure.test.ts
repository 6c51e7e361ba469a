/** The rules of `ARCHITECTURE.md` about which code may know which. */
import { describe, expect, test } from 'vitest';
import { filesBelow, importsOf, linesMatching, read, type Source } from './sources.js';

const sources = filesBelow('src', '.ts');
const client = filesBelow('client/src', '.ts');
const outside = (...allowed: string[]): Source[] =>
  sources.filter(({ path }) => !allowed.some((prefix) => path.startsWith(prefix)));

/** For files below a folder: what they may import. The first that fits a file is its rule. */
const rules: readonly (readonly [folder: string, allowed: RegExp])[] = [
  ['src/domain/', /^(src\/domain\/|node:(buffer|crypto|net|zlib)$|fastest-levenshtein$|temporal-polyfill$)/],
  ['src/storage/store.ts', /^src\/(domain\/|storage\/(people|figures)\.ts$)/],
  ['src/storage/figures.ts', /^$/],
  ['src/storage/people.ts', /^src\/domain\//],
  ['src/storage/commit-queue.ts', /^src\/(domain\/|storage\/figures\.ts$)/],
  ['src/storage/rows.ts', /^src\/domain\//],
  [
    'src/storage/sqlite/',
    /^(src\/(domain|storage\/sqlite)\/|src\/storage\/(store|people|rows|commit-queue|figures)\.ts$|node:|@photostructure\/sqlite$)/,
  ],
  [
    'src/storage/postgres/',
    /^(src\/(domain|storage\/postgres)\/|src\/storage\/(store|people|rows|commit-queue|figures)\.ts$|node:|pg$|pg-connection-string$)/,
  ],
  ['src/storage/series.ts', /^src\/(domain\/|storage\/store\.ts$)/],
  ['src/storage/open.ts', /^(src\/(domain|storage)\/|node:)/],
  ['src/storage/backup.ts', /^(src\/(domain|storage)\/|node:)/],
  ['src/users/', /^(src\/(domain|users)\/|src\/storage\/(store|people)\.ts$|better-auth|kysely$|pino$)/],
  [
    'src/http/',
    /^(src\/(domain|http|users)\/|src\/storage\/(store|series|figures)\.ts$|node:|fastify$|@fastify\/|ajv$|fast-json-stringify$|pino$|negotiator$|rate-limiter-flexible$|@bufbuild\/protobuf\/wire$)/,
  ],
  [
    'src/metrics/',
    /^(src\/(domain|http|metrics)\/|src\/storage\/(store|figures)\.ts$|fastify$|pino$|prom-client$)/,
  ],
  [
    'src/tracing/',
    /^(src\/(domain|http|tracing)\/|src\/storage\/store\.ts$|node:async_hooks$|fastify$|pino$|@opentelemetry\/)/,
  ],
  [
    'src/cli/mcp/server.ts',
    /^(src\/(cli|domain)\/|src\/http\/json-schema\.ts$|@modelcontextprotocol\/server$|@modelcontextprotocol\/server\/stdio$)/,
  ],
  ['src/cli/mcp/', /^(src\/(cli|domain)\/|src\/http\/(json-schema|schemas)\.ts$|commander$)/],
  [
    'src/cli/',
    /^(src\/|node:|commander$|csv-parse\/sync$|cli-progress$|pino$|pino-pretty$|fastify$|zstddec\/stream$|ajv$)/,
  ],
  ['src/main.ts', /^(src\/cli\/|node:)/],
];

describe('imports run one way', () => {
  test.each(sources.map((source) => [source.path, source] as const))('%s', (path, source) => {
    const allowed = rules.find(([folder]) => path.startsWith(folder))?.[1];
    expect(allowed, 'a folder without a rule').toBeDefined();
    expect(importsOf(source).filter((name) => !allowed?.test(name))).toEqual([]);
  });

  test('and never in a circle', () => {
    const imports = new Map(sources.map((source) => [source.path, importsOf(source)]));
    const done = new Set<string>();
    const circles: string[] = [];
    const visit = (path: string, trail: readonly string[]): void => {
      if (trail.includes(path)) circles.push([...trail.slice(trail.indexOf(path)), path].join(' > '));
      else if (!done.has(path)) for (const next of imports.get(path) ?? []) visit(next, [...trail, path]);
      done.add(path);
    };
    for (const path of imports.keys()) visit(path, []);
    expect(circles).toEqual([]);
  });

  test('and no command waits for another to load, nor any but mcp for its library', () => {
    const reached = new Set<string>();
    const visit = (path: string): void => {
      const source = sources.find((one) => one.path === path);
      if (source === undefined || reached.has(path)) return;
      reached.add(path);
      const text = source.text.replaceAll(/(?:new URL|import)\('/g, '');
      for (const next of importsOf({ ...source, text })) visit(next);
    };
    visit('src/main.ts');
    const program = sources.filter(({ path }) => path === 'src/cli/program.ts');
    const commands = program.flatMap(importsOf).filter((path) => !reached.has(path));
    expect(commands).toEqual(expect.arrayContaining(['src/cli/serve.ts', 'src/cli/mcp/command.ts']));
    commands.forEach(visit);
    expect([...reached].filter((path) => /^src\/cli\/mcp\/(?!command)/.test(path))).toEqual([]);
  });

  test('and reach every file from main.ts, or from the client', () => {
    const reached = new Set<string>();
    const visit = (path: string): void => {
      const source = sources.find((one) => one.path === path);
      if (source === undefined || reached.has(path)) return;
      reached.add(path);
      for (const next of importsOf(source)) visit(next);
    };
    visit('src/main.ts');
    for (const source of client) importsOf(source).forEach(visit);
    expect(sources.map(({ path }) => path).filter((path) => !reached.has(path))).toEqual([]);
  });
});

describe('the client imports nothing', () => {
  test.each(client.map((source) => [source.path, source] as const))('but its own: %s', (path, source) => {
    const own = /^(client\/src\/|src\/domain\/caller-detection\.ts$)/;
    const node = path === 'client/src/spool.ts' ? /^node:(fs|process)$/ : /^$/;
    expect(importsOf(source).filter((name) => !own.test(name) && !node.test(name))).toEqual([]);
  });

  test('not even by way of what it shares with the service', () => {
    expect(importsOf(read('src/domain/caller-detection.ts'))).toEqual([]);
  });

  test('and has one place for the clock', () => {
    const others = client.filter(({ path }) => path !== 'client/src/platform.ts');
    expect(linesMatching(others, /Date\.now\(|new Date\(\)|performance\.now/)).toEqual([]);
  });
});

describe('there is one place for', () => {
  test('the clock, the environment, the process: main.ts', () => {
    const pattern = /Date\.now\(|new Date\(\)|performance\.now|\bprocess\./;
    expect(linesMatching(outside('src/main.ts'), pattern)).toEqual([]);
  });

  test('names of variables of the environment: the settings', () => {
    const files = outside(
      'src/cli/settings.ts',
      'src/cli/setting.ts',
      'src/cli/operate-settings.ts',
      'src/cli/otlp-settings.ts',
      'src/cli/overload-settings.ts',
      'src/cli/tracing.ts',
      'src/cli/web-settings.ts',
    );
    expect(linesMatching(files, /\benv\[|CALLER_STATS_[A-Z_]+'/)).toEqual([]);
  });

  test('SQL: the storage adapters', () => {
    const pattern = /\b(SELECT|INSERT INTO|DELETE FROM|CREATE TABLE|PRAGMA|BEGIN IMMEDIATE)\b/;
    expect(linesMatching(outside('src/storage/sqlite/', 'src/storage/postgres/'), pattern)).toEqual([]);
  });

  test('choosing an HTTP status: the error tables, and what the dashboard answers when all is well', () => {
    const files = outside(
      'src/http/errors.ts',
      'src/http/connection-errors.ts',
      'src/http/dashboard/answers.ts',
    );
    expect(linesMatching(files, /\.(code|status)\(\d{3}\)/)).toEqual([]);
  });

  test('a total: domain/counts.ts', () => {
    expect(linesMatching(outside('src/domain/counts.ts'), /total:\s*(?!count\()[^;]*\+/)).toEqual([]);
  });
});
