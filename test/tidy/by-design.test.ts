/** What the table of OWASP ASVS says of how caller-stats is made, and no request can show. */
import { describe, expect, test } from 'vitest';
import { openInMemory } from '../../src/storage/sqlite/connection.js';
import { MIGRATIONS } from '../../src/storage/sqlite/migrations/index.js';
import { filesBelow, importsOf, linesMatching, read } from './sources.js';

describe('the tables of accounts', () => {
  const db = openInMemory();
  for (const statements of MIGRATIONS) db.exec(statements);
  const columns = db
    .prepare(
      'SELECT tables.name AS "table", columns.name AS "column" FROM sqlite_schema AS tables, pragma_table_info(tables.name) AS columns',
    )
    .all() as { readonly table: string; readonly column: string }[];
  const names = columns.map(({ table, column }) => `${table}.${column}`);

  test('have a password, and neither a hint nor a secret question', () => {
    expect(names.filter((name) => /password/i.test(name))).not.toEqual([]);
    expect(names.filter((name) => /\..*(?:hint|question|answer|reminder)/i.test(name))).toEqual([]);
  });

  test('have no time at which a password ends', () => {
    const ofPasswords = names.filter((name) => /password/i.test(name));
    expect(ofPasswords.filter((name) => /expire|until|age|changed|_at$/i.test(name))).toEqual([]);
  });
});

test('cryptography is that of Node, of the browser, and of the sign-in library', () => {
  const sources = [...filesBelow('src', '.ts'), ...filesBelow('dashboard/src', '.ts', '.tsx')];
  const packages = new Set(sources.flatMap(importsOf).filter((name) => !/^(?:src|dashboard)\//.test(name)));
  const cryptographic = /crypt|argon|sjcl|forge|jose|jsonwebtoken|nacl|noble|otp|hash|sha\d|md5/;
  expect([...packages].filter((name) => cryptographic.test(name)).toSorted()).toEqual([
    'better-auth/crypto',
    'node:crypto',
    'otpauth',
  ]);
});

test('no text becomes HTML or code, and the pages have no plugins', () => {
  const pages = [...filesBelow('dashboard/src', '.ts', '.tsx'), read('dashboard/index.html')];
  const html =
    /dangerouslySetInnerHTML|\b(?:inner|outer)HTML\b|insertAdjacentHTML|document\.write|DOMParser|createContextualFragment/;
  expect(linesMatching(pages, html)).toEqual([]);
  expect(linesMatching(pages, /<(?:object|embed|applet)[\s/]/)).toEqual([]);
  const sources = filesBelow('src', '.ts');
  expect(
    linesMatching([...pages, ...sources], /(?:^|[=(,;{.>]|\breturn)\s*eval\(|\bnew Function\(|'node:vm'/),
  ).toEqual([]);
  // They make code of schemas.
  const compiling = sources.filter((one) =>
    importsOf(one).some((name) => /^(?:ajv|fast-json-stringify)$/.test(name)),
  );
  expect(compiling.map(({ path }) => path)).toEqual([
    'src/app/import/rules-file.ts',
    'src/http/schemas/compilers.ts',
  ]);
});

test('nothing secret comes from a generator that can be guessed', () => {
  const using = filesBelow('src', '.ts').filter(({ text }) => text.includes('Math.random'));
  // How long to wait for the database.
  expect(using.map(({ path }) => path)).toEqual(['src/storage/postgres/connection/database.ts']);
});

/** Where `src` opens connections, and the row of the table that says so. */
const connections: Readonly<Record<string, string>> = {
  'src/app/notifications/channels/mailer.ts': 'an SMTP server',
  'src/app/notifications/channels/poster.ts': 'receivers of notifications',
  'src/auth/provider.ts': 'the OpenID Connect provider',
  'src/cli/doctor/network-checks.ts': 'the server itself',
  'src/cli/server-client.ts': 'another server of this kind',
  'src/observability/tracing/tracing.ts': 'a collector of traces',
  'src/shared/api-client.ts': 'another server of this kind',
  'src/storage/postgres/connection/connections.ts': 'PostgreSQL',
};

test('every place that opens a connection is in the table of connections', () => {
  const opens =
    /\bfetch\((?!request, )|\brequest as request|createTransport\(|new pg\.Pool|new \w*Exporter\(|\b(?:net|tls|http2?|https)\.(?:connect|request|get)\(|\bcreateConnection\b/;
  const found = filesBelow('src', '.ts').filter(({ text }) => opens.test(text));
  expect(found.map(({ path }) => path)).toEqual(Object.keys(connections));
  const { text } = read('docs/engineering/security-asvs.md');
  const section = text.slice(
    text.indexOf('## Connections to other systems'),
    text.indexOf('## Requirements by'),
  );
  const rows = [...section.matchAll(/^\| (?!to |---)([^|]+) \|/gm)].map(([, to]) => to);
  expect(rows.toSorted()).toEqual([...new Set(Object.values(connections))].toSorted());
});

test('the dashboard stores preferences in the browser, and nothing else', () => {
  const storages = /\b(?:localStorage|sessionStorage|indexedDB|caches|document\.cookie)\b/;
  const using = filesBelow('dashboard/src', '.ts', '.tsx').filter(({ text }) => storages.test(text));
  const preferences = 'dashboard/src/preferences/local-storage.ts';
  const reload = 'dashboard/src/navigation/lazy-code.ts';
  expect(using.map(({ path }) => path)).toEqual([reload, preferences]);
  expect(read(preferences).text).toContain(
    "type Remembered = 'theme' | 'organization' | 'project' | 'shortcuts' | 'weekStart';",
  );
  expect([...read(reload).text.matchAll(/Storage\.\w+\('([^']+)'/g)].map(([, name]) => name)).toEqual([
    'caller-stats.reloaded',
    'caller-stats.reloaded',
  ]);
});

test('SECURITY.md says within how many days updates follow', () => {
  const { text } = read('SECURITY.md');
  const section = text.slice(text.indexOf('## Updates of dependencies'));
  for (const what of ['critical or high', 'any other vulnerability', 'a newer version'])
    expect(section).toMatch(new RegExp(`^\\|.*${what}.*\\| \\d+ days \\|$`, 'm'));
});

test('the lock file has the version and the hash of every package', () => {
  interface Locked {
    readonly version?: string;
    readonly integrity?: string;
  }
  const { packages } = JSON.parse(read('package-lock.json').text) as { packages: Record<string, Locked> };
  const own = ['', 'clients/javascript', 'node_modules/caller-stats-client'];
  const installed = Object.entries(packages).filter(([name]) => !own.includes(name));
  expect(installed.length).toBeGreaterThan(100);
  expect(installed.filter(([, { version, integrity }]) => !version || !integrity)).toEqual([]);
});

test('types are strict, and the linter refuses loose comparisons', () => {
  expect(JSON.parse(read('tsconfig.json').text)).toMatchObject({ compilerOptions: { strict: true } });
  const { text } = read('biome.json');
  // Its recommended rules have `noDoubleEquals`.
  expect(JSON.parse(text)).toMatchObject({ linter: { rules: { preset: 'recommended' } } });
  expect(text).not.toContain('noDoubleEquals');
});
