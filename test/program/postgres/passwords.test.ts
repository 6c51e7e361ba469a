/** A password of the database is shown nowhere, whatever goes wrong, and what went wrong is said plainly. */
import { existsSync } from 'node:fs';
import { readFile, writeFile } from 'node:fs/promises';
import { join } from 'node:path';
import { describe, expect, inject, test } from 'vitest';
import { generateKey } from '../../../src/domain/keys/api-key.js';
import {
  firstRunOf,
  inGroups,
  kill,
  type Outcome,
  runCli,
  runCommand,
  spawnCli,
} from '../../support/cli/cli.js';
import { batchOf, clientOf } from '../../support/cli/cli-client.js';
import { allowSchemas, newUser, type User } from '../../support/postgres/postgres-user.js';
import { listening, programOn, ready } from '../../support/postgres/schema-nodes.js';
import { newSchemaIn, onDatabase, schemaOf } from '../../support/storage/store.js';
import { temporaryFolder } from '../../support/temporary.js';
import { isDeep } from '../../support/volume.js';

const databaseUrl = inject('postgresServers').at(-1)?.url ?? '';

/** In both its forms, plain and percent-encoded, so that this alone has to be looked for. */
const core = 'hunter2';
const password = `:@${core}/#?% &="\\`;

function expectNoPassword(where: string, text: string): void {
  expect(text.includes(core), `${where} has the password: ${text}`).toBe(false);
}

/** Changes a part of a URL that has this user in it, and says what there is to read then. */
interface Trouble {
  readonly what: string;
  readonly change: (url: string) => string;
  readonly status: 1 | 2;
  readonly says: RegExp;
}

const now = 'caller-stats: The database cannot be used now: ';
/** Too long to be one, so that no name server is asked. */
const noHost = `${'x'.repeat(64)}.invalid`;

const troubles: readonly Trouble[] = [
  {
    what: 'a wrong password',
    change: (url) => url.replace(core, `${core}x`),
    status: 1,
    says: new RegExp(`^${now}it refuses this password; correct .+ \\(password authentication failed`),
  },
  {
    what: 'an unknown host',
    change: (url) => url.replace(/@127[^/]+/, `@${noHost}`),
    status: 1,
    says: new RegExp(`^${now}its host name is not known; .+ ${noHost}\\)$`),
  },
  {
    what: 'a port where nothing listens',
    change: (url) => url.replace(/:\d+\//, ':1/'),
    status: 1,
    says: new RegExp(`^${now}nothing answers at its host and port; .+ 127\\.0\\.0\\.1:1\\)$`),
  },
  {
    what: 'a database that is not there',
    change: (url) => url.replace(/\/postgres\?/, '/nope?'),
    status: 1,
    says: new RegExp(`^${now}there is no such database on the server; create it first\\. \\(database "nope"`),
  },
  {
    what: 'encryption that the server does not have',
    change: (url) => `${url}&sslmode=require`,
    status: 1,
    says: new RegExp(`^${now}it does not encrypt connections, which sslmode asks for`),
  },
  {
    what: 'an option that the server refuses',
    change: (url) => `${url}&options=-c nosuch=1`,
    status: 1,
    says: new RegExp(
      `^${now}it refuses the connection\\. \\(unrecognized configuration parameter "nosuch"\\)$`,
    ),
  },
  {
    what: 'a port that is none',
    change: (url) => url.replace(/:\d+\//, ':port/'),
    status: 2,
    says: /^caller-stats: (DATABASE_URL|--database): its value has a port that is not a number from 1 to 65535$/,
  },
  {
    what: 'a parameter that is mistyped',
    change: (url) => `${url}&sslmod=require`,
    status: 2,
    says: /^caller-stats: (DATABASE_URL|--database): its value has a parameter that is nearly/,
  },
];

/** Characters that have to be escaped make other parts of a URL of the rest of the password. */
const malformed = [`5/${core}`, `#${core}`, `?${core}`, `5?${core}`, `${core}%`, `${core}/`];

const commandsOn = (file: string): string[][] => [
  ['project', 'create', 'More'],
  ['project', 'list'],
  ['key', 'create', '--name', 'a'],
  ['key', 'list'],
  ['key', 'revoke', 'a'],
  ['import', file, '--project', 'docs'],
  ['stats', 'docs'],
  ['verify'],
];

async function queriesFile(): Promise<string> {
  const file = join(await temporaryFolder(), 'queries.ndjson');
  await writeFile(file, '{"id": "a", "caller": "web", "occurredAt": "2026-01-01T00:00:00Z"}\n');
  return file;
}

/** The user and the URL of a new schema as that user. */
async function userAndUrl(): Promise<{ user: User; url: string }> {
  const url = newSchemaIn(databaseUrl);
  const user = await newUser(databaseUrl, password);
  await allowSchemas(databaseUrl, user);
  return { user, url: user.url(url) };
}

/** The ways in which a password gets to the program, as flags and environment. */
function waysOf(url: string): { args: string[]; env: Record<string, string> }[] {
  const sent = /:([^:/@]*)@/.exec(url)?.[1] ?? '';
  return [
    { args: [], env: { DATABASE_URL: url } },
    { args: ['--database', url], env: {} },
    { args: [`--database=${url}`], env: {} },
    {
      args: [],
      env: { DATABASE_URL: url.replace(`:${sent}@`, '@'), PGPASSWORD: decodeURIComponent(sent) },
    },
  ];
}

function checkOutcome(outcome: Outcome, { status, says: pattern }: Pick<Trouble, 'status' | 'says'>): void {
  expect(outcome).toMatchObject({ status, stdout: '' });
  expect(outcome.stderr.trimEnd()).toMatch(pattern);
  expect(outcome.stderr.trimEnd().split('\n')).toHaveLength(1);
  expectNoPassword('stderr', outcome.stderr);
}

/** The deep run tries every command with every trouble; the quick run all commands with the first, then one command each. */
function commandsToTry(trouble: Trouble, file: string): string[][] {
  const commands = commandsOn(file);
  const index = troubles.indexOf(trouble);
  if (isDeep || index === 0) return commands;
  return commands.filter((_command, at) => at === index % commands.length);
}

describe.each(troubles.map((one) => [one.what, one] as const))('%s', (_what, trouble) => {
  test('is reported by commands in one line without the password', async () => {
    const { url } = await userAndUrl();
    const file = await queriesFile();
    const env = { DATABASE_URL: trouble.change(url), CALLER_STATS_LOG_LEVEL: 'trace' };
    const outcomes = await inGroups(commandsToTry(trouble, file), 4, (args) => runCli(args, { env }));
    expect(outcomes).toHaveLength(isDeep || trouble === troubles[0] ? 8 : 1);
    for (const outcome of outcomes) checkOutcome(outcome, trouble);
  });

  test('has the same message wherever the password came from', async () => {
    const { url } = await userAndUrl();
    // The driver reads PGPASSWORD from the environment of its process. Servers below have it for other troubles, too.
    const all = isDeep || trouble === troubles[0];
    const ways = waysOf(trouble.change(url)).filter(({ env }) => all || !('PGPASSWORD' in env));
    const outcomes = await inGroups(ways, 4, ({ args, env }) => {
      const run = 'PGPASSWORD' in env ? spawnCli : runCli;
      return run(['verify', ...args], { env });
    });
    for (const outcome of outcomes) checkOutcome(outcome, trouble);
  });
});

test.each(malformed)('rejects the unescaped password %s without repeating it', async (raw) => {
  const url = `postgres://tester:${raw}@127.0.0.1:5432/postgres`;
  const says =
    /^caller-stats: (DATABASE_URL|--database): its value (is not a URL|cannot be read).+ as %40 %3A /;
  for (const { args, env } of [
    { args: [], env: { DATABASE_URL: url } },
    { args: ['--database', url], env: {} },
  ]) {
    checkOutcome(await runCli(['verify', ...args], { env }), { status: 2, says });
  }
});

/** All that anybody on the machine can read about a process. */
async function shownOf(pid: number): Promise<string> {
  const { stdout } = await runCommand('ps', ['-A', '-o', 'args']);
  const file = `/proc/${pid}/cmdline`;
  return existsSync(file) ? `${stdout}\n${await readFile(file, 'utf8')}` : stdout;
}

async function answersOf(url: string): Promise<string> {
  const key = generateKey('cs', 'admin', () => 7);
  const asked = ['/livez', '/readyz', '/openapi.json', '/v1/analytics/docs/assistant/caller-stats'];
  const answers = asked.map(async (path) => {
    const response = await fetch(`${url}${path}`, { headers: { authorization: `Bearer ${key}` } });
    return `${response.status} ${JSON.stringify([...response.headers])} ${await response.text()}`;
  });
  return (await Promise.all(answers)).join('\n');
}

describe('a server that cannot use its database', () => {
  const temporary = troubles.filter(({ status }) => status === 1);

  test.each(temporary.map((one, index) => [one.what, one, index] as const))(
    'for %s shows no password in its output, its answers or the list of processes',
    async (_what, trouble, index) => {
      const { url } = await userAndUrl();
      const ways = waysOf(trouble.change(url)).slice(2);
      // The quick run uses the last two ways in turn.
      for (const { args, env } of isDeep ? ways : ways.slice(index % 2, (index % 2) + 1)) {
        const running = programOn('', env).start(['--log-level', 'trace', ...args]);
        const server = await listening(running);
        const answers = await answersOf(server.url);
        expect(answers).toMatch(/^503 .+The server is not ready/m);
        expect(answers).toMatch(/^503 .+The store cannot answer now/m);
        expectNoPassword('an answer', answers);
        const shown = await shownOf(running.pid);
        expect(shown).toContain('serve --port 0 --log-level trace');
        expectNoPassword('the list of processes', shown);
        kill(running.pid, 'SIGTERM');
        const { status, stdout, stderr } = await running.ended;
        expect(status).toBe(0);
        expect(stderr).toMatch(/"msg":"the database cannot be used; trying again"/);
        expectNoPassword('its output', stdout + stderr);
      }
    },
  );
});

test('a failed request shows no password in its response and log', async () => {
  const { url } = await userAndUrl();
  const schema = schemaOf(url);
  const running = programOn('').start(['--log-level', 'trace', '--database', url]);
  const server = await ready(running);
  const { project, admin } = firstRunOf(server);
  expect(await clientOf(server, project, admin).record(batchOf(0, 3))).toMatchObject({ status: 200 });
  await onDatabase(url, (client) =>
    client.query(`
      CREATE FUNCTION ${schema}.fail() RETURNS trigger LANGUAGE plpgsql AS 'BEGIN RAISE ''failed on purpose''; END';
      CREATE TRIGGER fail BEFORE INSERT ON ${schema}.query EXECUTE FUNCTION ${schema}.fail()`),
  );
  const answer = await clientOf(server, project, admin).record(batchOf(1, 3));
  expect(answer).toMatchObject({
    status: 500,
    body: { error: expect.stringMatching(/^The server failed\./) },
  });
  expectNoPassword('the answer', JSON.stringify(answer));
  expectNoPassword('the list of processes', await shownOf(running.pid));
  kill(running.pid, 'SIGTERM');
  const { stdout, stderr } = await running.ended;
  expect(stderr).toContain('failed on purpose');
  expectNoPassword('its output', stdout + stderr);
});
