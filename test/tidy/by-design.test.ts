/** What the table of OWASP ASVS says of how caller-stats is made, and no request can show. */
import { describe, expect, test } from 'vitest';
import { parseCorrection } from '../../src/domain/corrections/correction.js';
import { parseImportedCount } from '../../src/domain/counting/imported-count.js';
import {
  parseCountsRequest,
  parseQueriesRequest,
  parseSeriesRequest,
  type ReportInput,
} from '../../src/domain/counting/report-request.js';
import { type KeyRequest, parseKeyRequest } from '../../src/domain/keys/new-key.js';
import { AUDIT_ACTIONS } from '../../src/domain/people/audit.js';
import { parseRights } from '../../src/domain/people/member.js';
import type { Result } from '../../src/domain/result.js';
import { openInMemory } from '../../src/storage/sqlite/connection.js';
import { MIGRATIONS } from '../../src/storage/sqlite/migrations/index.js';
import { DASHBOARD_ROUTES } from '../support/http/dashboard-routes.js';
import { filesBelow, importsOf, linesMatching, read, tableBelow } from './sources.js';

const db = openInMemory();
for (const statements of MIGRATIONS) db.exec(statements);
const columns = db
  .prepare(
    `SELECT tables.name AS "table", columns.name AS "column"
     FROM sqlite_schema AS tables, pragma_table_info(tables.name) AS columns WHERE tables.type = 'table'`,
  )
  .all() as { readonly table: string; readonly column: string }[];

describe('the tables of accounts', () => {
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
    linesMatching([...pages, ...sources], /(?:^|[=(,;{.>]|\breturn)\s*eval\(|\bnew Function\(|'node:v[m8]'/),
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

/** The first cells of the table in a section of the page. */
function rowsOf(heading: string): string[] {
  const { lines } = read('docs/engineering/security-asvs.md');
  const from = lines.indexOf(`## ${heading}`);
  const to = lines.findIndex((line, at) => at > from && line.startsWith('## '));
  const table = lines.slice(from, to).filter((line) => line.startsWith('| '));
  return table.slice(2).map((line) => line.split('|')[1]?.trim() ?? '');
}

test('every place that opens a connection is in the table of connections', () => {
  const opens =
    /\bfetch\((?!request, )|\brequest as request|createTransport\(|new pg\.Pool|new \w*Exporter\(|\b(?:net|tls|http2?|https)\.(?:connect|request|get)\(|\bcreateConnection\b/;
  const found = filesBelow('src', '.ts').filter(({ text }) => opens.test(text));
  expect(found.map(({ path }) => path)).toEqual(Object.keys(connections));
  const rows = rowsOf('Connections to other systems');
  expect(rows.toSorted()).toEqual([...new Set(Object.values(connections))].toSorted());
});

/** Where `src` makes what nobody may guess, and the row of the table that it belongs to. */
const secrets: Readonly<Record<string, string>> = {
  'src/app/notifications/channels/webhook.ts': 'secrets of webhooks, 256 random bits',
  'src/auth/applications/applications.ts': 'codes and tokens of connected applications',
  'src/auth/credentials.ts': 'tokens of links, 256 random bits',
  'src/auth/passkeys/challenge.ts': 'passkeys',
  'src/auth/passwords/password-hash.ts': 'passwords',
  'src/auth/second-factor/backup-codes.ts': 'backup codes',
  'src/auth/second-factor/challenge.ts': 'the secret of the server, 256 random bits',
  'src/auth/second-factor/codes.ts': 'seeds of authenticator apps',
  'src/auth/second-factor/trusted-devices.ts': 'the secret of the server, 256 random bits',
  'src/auth/secrets.ts': 'the secret of the server, 256 random bits',
  'src/cli/server/secret-file.ts': 'the secret of the server, 256 random bits',
  'src/domain/keys/api-key.ts': 'API keys, 256 random bits',
  'src/domain/people/invitation.ts': 'tokens of links, 256 random bits',
  'src/domain/projects/share-link.ts': 'tokens of links, 256 random bits',
  'src/http/dashboard/login-throttle.ts': 'the secret of the server, 256 random bits',
};

/** The other places where `src` and the pages use cryptography, each with its row of the table. */
const uses: Readonly<Record<string, string>> = {
  'src/auth/applications/registration.ts': 'the secret of the server, 256 random bits',
  'src/auth/hashed-tokens.ts': 'session tokens, 190 random bits',
  'src/auth/sealed-texts.ts': 'the secret of the server, 256 random bits',
  'src/domain/queries/lines.ts': 'the key of `--id-key`, 16 bytes or more',
};

/** Where it only names what is not secret, adds up counts, or looks up breached passwords; and where random numbers come from. */
const names: readonly string[] = [
  'dashboard/src/api/corrections.ts',
  'src/cli/server/breached-passwords.ts',
  'src/domain/corrections/carried.ts',
  'src/domain/notifications/delivery.ts',
  'src/domain/queries/telemetry-record.ts',
  'src/http/dashboard/attempts.ts',
  'src/main.ts',
  'src/storage/sqlite/counters/keyed-sum.ts',
];

test('every place that makes or uses a secret is in the table of keys', () => {
  const makes =
    /\b(?:randomBytes|randomUUID|generateRandomString)\(|\brandomInt\(256\)|\bgenerateToken\(randomInt|\brandomText\(randomCharacters/;
  const found = filesBelow('src', '.ts').filter(({ text }) => makes.test(text));
  expect(found.map(({ path }) => path)).toEqual(Object.keys(secrets));
  const cryptographic =
    /'(?:node:crypto|better-auth\/crypto|otpauth)'|\bcrypto\.(?:subtle|getRandomValues|random)/;
  const using = [...filesBelow('src', '.ts'), ...filesBelow('dashboard/src', '.ts', '.tsx')]
    .filter(({ text }) => cryptographic.test(text))
    .map(({ path }) => path);
  const known = [...Object.keys(secrets), ...Object.keys(uses), ...names];
  expect(using.filter((path) => !known.includes(path))).toEqual([]);
  const elsewhere = [
    'tickets of share links, 12 hours',
    'keys of the provider',
    'passwords of the server elsewhere',
    'a certificate and key for PostgreSQL, if `sslcert` and `sslkey` name them',
  ];
  const rows = rowsOf('Keys and algorithms');
  expect(rows.toSorted()).toEqual(
    [...new Set([...Object.values(secrets), ...Object.values(uses), ...elsewhere])].toSorted(),
  );
});

test('hashes are SHA-256, except where the table says so', () => {
  const named = /\b(?:createHash|createHmac)\('(?!sha256')|'(?:md5|sha-?1|SHA-?1)'/i;
  const using = filesBelow('src', '.ts').filter(({ text }) => named.test(text));
  expect(using.map(({ path }) => path)).toEqual([
    'src/auth/second-factor/codes.ts',
    'src/auth/second-factor/stored-factor.ts',
    'src/cli/server/breached-passwords.ts',
    ...['postgres', 'sqlite'].map((kind) => `src/storage/${kind}/migrations/019-initial-schema.ts`),
  ]);
});

test('the table of who may do what has every operation of the pages', () => {
  const table = tableBelow('docs/engineering/security-asvs.md', 'in the dashboard');
  const namesOf = (cell: string) => [...cell.matchAll(/`([\w-]+)`/g)].map(([, name = '']) => name);
  const documented = table.flatMap(([what = '', read = '', changed = '']) =>
    namesOf(what).flatMap((name) => [
      ...namesOf(read).map((who) => `${who} reads ${name}`),
      ...namesOf(changed).map((who) => `${who} changes ${name}`),
    ]),
  );
  const rights = DASHBOARD_ROUTES.filter(({ who, path }) => who !== 'anybody' || path.includes(':token')).map(
    ({ method, path, who }) => {
      const inOrganization =
        /^\/api\/organizations\/:organizationId(?:\/projects\/:projectId(?=\/))?(.*)$/.exec(path);
      const rest = inOrganization?.[1] ?? path.replace(/^\/api(?:\/shared\/:token)?/, '');
      const [, name = 'organization'] = rest.split('/');
      // What a share link shows, and the route that takes its password.
      return /:token(?:\/unlock)?$/.test(path)
        ? ''
        : `${who} ${method === 'GET' ? 'reads' : 'changes'} ${name}`;
    },
  );
  expect([...new Set(documented)].toSorted()).toEqual(
    [...new Set(rights)].filter((one) => one !== '').toSorted(),
  );
});

/** What breaks each rule of the table of input that belongs together, and no other rule. */
const together: Readonly<Record<string, readonly Result<unknown>[]>> = (() => {
  const nowMs = Date.UTC(2026, 0, 15);
  const counts = (input: ReportInput) => parseCountsRequest(input, { nowMs });
  const series = (input: ReportInput) => parseSeriesRequest(input, { nowMs });
  const january = { from: '2026-01-01', to: '2026-01-02' };
  const imported = (start: string, end: string) =>
    parseImportedCount({ source: 'a', caller: 'web', start, end, count: 1 }, nowMs);
  const correction = (more: object) => parseCorrection({ id: 'a', reason: 'b', ...more });
  const key = (more: Omit<KeyRequest, 'name'>) =>
    parseKeyRequest({ name: 'a', ...more }, { nowMs, lifeMsMax: null });
  const withdraw = { action: 'withdraw', caller: 'web' };
  const rename = { action: 'rename', caller: 'web' };
  const undo = { action: 'undo', correction: 'b' };
  return {
    '`dateFrom`, `dateTo`': [counts({ from: '2026-01-02', to: '2026-01-01' })],
    '`recordedFrom`, `recordedTo`': [
      parseQueriesRequest({ recordedFrom: '2026-01-02', recordedTo: '2026-01-01' }, { nowMs }),
    ],
    '`period`, `dateFrom`, `dateTo`': [
      counts({ period: 'today', from: '2026-01-01' }),
      counts({ period: 'today', to: '2026-01-01' }),
    ],
    '`compare`, `dateFrom`, `dateTo`': [
      counts({ compare: 'previous', from: '2026-01-01' }),
      counts({ compare: 'previous', to: '2026-01-01' }),
    ],
    '`by`, `caller`': [series({ by: 'caller', caller: 'web' })],
    '`layout`, `by`': [series({ layout: 'long' })],
    '`layout`, `compare`': [series({ layout: 'long', by: 'caller', compare: 'previous', ...january })],
    '`asOf`, `dateFrom`, `dateTo`': [counts({ asOf: '2026-01-10', from: '2026-01-01T00:01Z' })],
    '`asOf`, `period`': [counts({ asOf: '2026-01-10', period: 'yesterday' })],
    '`start`, `end` of an imported count': [
      imported('2026-01-02T00:00:00Z', '2026-01-02T00:00:00Z'),
      imported('2024-01-01T00:00:00Z', '2025-01-03T00:00:00.001Z'),
    ],
    '`ids`, `source`, and filters of a correction': [
      correction({ action: 'withdraw' }),
      correction({ ...withdraw, ids: ['a'] }),
      correction({ ...withdraw, source: 'a' }),
      correction({ action: 'withdraw', ids: ['a'], source: 'a' }),
    ],
    '`action`, `to` of a correction': [
      correction(rename),
      correction({ ...withdraw, to: 'api' }),
      correction({ ...undo, to: 'api' }),
    ],
    '`action`, `correction` of a correction': [
      correction({ action: 'undo' }),
      correction({ ...withdraw, correction: 'b' }),
      correction({ ...rename, to: 'api', correction: 'b' }),
    ],
    '`caller`, `to` of a correction': [correction({ ...rename, to: 'web' })],
    '`type`, `project` of a key': [
      key({ type: 'recording' }),
      key({ type: 'reading' }),
      key({ type: 'admin', project: 'docs' }),
    ],
    '`type`, `scope` of a key': [
      key({ type: 'recording', project: 'docs', scope: 'read' }),
      key({ type: 'reading', project: 'docs', scope: 'read' }),
    ],
    '`role`, `projects` of a member': [parseRights('reader'), parseRights('owner', ['docs'])],
  };
})();

test('the rules of input that belongs together are all in their table, and in force', () => {
  const rules = tableBelow('docs/engineering/security-asvs.md', 'input');
  expect(rules.map(([input]) => input)).toEqual(Object.keys(together));
  for (const [input, results] of Object.entries(together))
    for (const result of results)
      expect(result, input).toMatchObject({ ok: false, problems: [expect.any(String)] });
});

test('every table of the database has a class, and each class its protection', () => {
  const { lines } = read('docs/engineering/security-asvs.md');
  const classes = tableBelow('docs/engineering/security-asvs.md', 'class');
  expect(classes.map(([name]) => name)).toEqual(['secret', 'personal', 'internal', 'public']);
  expect(classes.filter((cells) => cells.length !== 3 || cells.some((cell) => cell === ''))).toEqual([]);
  // Who may see it, whether logs have it, and how long it is kept.
  for (const [name, , protection] of classes.slice(0, 3))
    for (const what of [/\bshown\b|\bfor\b.*\bmembers\b/, /\blog\b/, /\bkept\b|how long/])
      expect(protection, name).toMatch(what);
  expect(lines.join(' ')).toMatch(
    /Nothing is encrypted in the database except .*: encrypt the disk, and backups\./,
  );
  const at = lines.findIndex((line) => line.startsWith('The tables of the database'));
  const sentence = lines.slice(at, lines.indexOf('', at)).join(' ');
  const listed = [...sentence.matchAll(/`(\w+)`/g)].map(([, name = '']) => name);
  expect(listed.toSorted()).toEqual([...new Set(columns.map(({ table }) => table))].toSorted());
});

test('the list of what is logged has every action of the audit log', () => {
  const { lines } = read('docs/engineering/security-asvs.md');
  const at = lines.findIndex((line) => line.startsWith('Actions of the audit log'));
  const listed = lines
    .slice(at, lines.indexOf('', at))
    .join(' ')
    .match(/(?<=`)[a-z_.]+(?=`)/g);
  expect(listed).toEqual(AUDIT_ACTIONS);
  const logs = tableBelow('docs/engineering/security-asvs.md', 'log |');
  expect(logs.length).toBeGreaterThan(4);
  expect(logs.filter((cells) => cells.length !== 5 || cells.some((cell) => cell === ''))).toEqual([]);
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
  // `test/scripts/release.test.ts` has the same days of what `npm run updates` checks.
  expect(tableBelow('SECURITY.md', 'what is known').map(([what, days]) => `${days}: ${what}`)).toEqual([
    expect.stringMatching(/^7 days: .*critical or high/),
    expect.stringMatching(/^30 days: .*any other vulnerability/),
    expect.stringMatching(/^30 days: .*Node of the executable or the image/),
    expect.stringMatching(/^90 days: .*a newer version/),
    expect.stringMatching(/^30 days: .*time zone data/),
  ]);
});

test('the lock file has the version and the hash of every package, and all of them come from the registry', () => {
  interface Locked {
    readonly version?: string;
    readonly integrity?: string;
    readonly resolved?: string;
  }
  const { packages } = JSON.parse(read('package-lock.json').text) as { packages: Record<string, Locked> };
  const own = ['', 'clients/javascript', 'node_modules/caller-stats-client'];
  const installed = Object.entries(packages).filter(([name]) => !own.includes(name));
  expect(installed.length).toBeGreaterThan(100);
  expect(installed.filter(([, { version, integrity }]) => !version || !integrity)).toEqual([]);
  // Without an address of its own, a package is that of the registry.
  expect(installed.filter(([, { resolved }]) => resolved !== undefined)).toEqual([]);
});

test('types are strict, and the linter refuses loose comparisons and unchecked types', () => {
  for (const path of ['tsconfig.json', 'dashboard/tsconfig.json', 'clients/javascript/tsconfig.json'])
    expect(read(path).text, path).toMatch(/"strict": true|"extends": "\.\.\/(?:\.\.\/)?tsconfig\.json"/);
  const { text } = read('biome.json');
  const { linter, files } = JSON.parse(text);
  // Its recommended rules have `noDoubleEquals`.
  expect(linter).toMatchObject({ rules: { preset: 'recommended', suspicious: { noExplicitAny: 'error' } } });
  expect(linter.enabled).not.toBe(false);
  expect(files.includes).toEqual(['**', '!demo', '!package-lock.json', '!**/*.vue']);
  expect(text).not.toMatch(/noDoubleEquals|"suspicious": "off"|"linter": \{\s*"enabled": false/);
});

test('the server runs one command, whose words are fixed', () => {
  const running = [...filesBelow('src', '.ts')].filter((one) => /child_process/.test(one.text));
  expect(running.map(({ path }) => path)).toEqual(['src/cli/server/tell-ready.ts']);
  const [{ text = '' } = {}] = running;
  expect(text.match(/\b(?:spawn|exec|execFile|fork|\w+Sync)\(/g)).toEqual(['spawn(']);
  expect(text).toContain(
    "spawn('systemd-notify', ['--ready'], { env: { NOTIFY_SOCKET, PATH }, stdio: 'ignore' })",
  );
});

test('no regular expression contains what a request sent', () => {
  const making = linesMatching(filesBelow('src', '.ts'), /\bRegExp\(/).filter(
    (line) => !/\bRegExp\((?:$|`|[A-Z_]+_PATTERN\b)/.test(line),
  );
  // The pattern that somebody gives a command for their own files.
  expect(making.map((line) => line.split(':')[0])).toEqual(['src/cli/options/access-log-form.ts']);
  const inserted = filesBelow('src', '.ts').flatMap(({ path, text }) =>
    [...text.matchAll(/\bRegExp\(\s*`([^`]*)`/g)].flatMap(([, pattern = '']) =>
      [...pattern.matchAll(/\$\{([^}]*)\}/g)].map(([, name = '']) => `${path} ${name}`),
    ),
  );
  expect(inserted.filter((one) => !/ [A-Z_]+(?:\.join\('\|'\))?$/.test(one)).toSorted()).toEqual([
    'src/domain/keys/api-key.ts randomCharacters + checksumCharacters',
    ...['questions', 'suggestions', 'title', 'verb'].map(
      (name) => `src/domain/queries/telemetry-rules.ts ${name}`,
    ),
    'src/storage/postgres/connection/workers.ts schema',
  ]);
});
