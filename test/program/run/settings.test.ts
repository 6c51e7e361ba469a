import { createHash } from 'node:crypto';
import { existsSync, writeFileSync } from 'node:fs';
import { readdir, writeFile } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { describe, expect, test } from 'vitest';
import { firstRunOf, PROGRAM, runCli, runCommand } from '../../support/cli/cli.js';
import { batchOf, clientOf } from '../../support/cli/cli-client.js';
import { emptyPlace, placeWithProject, refusal, succeed } from '../../support/cli/cli-place.js';
import { matched } from '../../support/cli/process.js';
import { startHttpServer } from '../../support/http-server.js';

/** Every setting with an invalid value. */
const badEnvironment = {
  HOST: 'not a host',
  PORT: '65536',
  DATABASE_URL: 'mysql://localhost/db',
  CALLER_STATS_DATABASE_CONNECTIONS_MAX: '1',
  CALLER_STATS_DATABASE_TIMEOUT_MS: '5s',
  CALLER_STATS_KEY_PREFIX: 'Bad_Prefix',
  CALLER_STATS_KEY_LIFE_MAX: '0d',
  CALLER_STATS_LOG_LEVEL: 'loud',
  CALLER_STATS_METRICS: 'not a host:1',
  CALLER_STATS_TRUST_PROXY: '0.0.0.0/0',
  CALLER_STATS_PUBLIC_URL: 'https://stats.example.org/path',
  BASE_PATH: 'stats',
  CALLER_STATS_OIDC_ISSUER: 'ftp://sso.example.org',
  CALLER_STATS_REQUESTS_PER_MINUTE: '-1',
  CALLER_STATS_FAILURES_PER_MINUTE: '1000001',
  CALLER_STATS_AUDIT_DAYS: '0',
  CALLER_STATS_BATCH_QUERIES_MAX: '0',
  CALLER_STATS_BODY_BYTES_MAX: '10 MiB',
};

describe('settings', () => {
  test('are read from the environment', async () => {
    const place = await emptyPlace();
    const env = {
      HOST: 'localhost',
      CALLER_STATS_KEY_PREFIX: 'acme',
      CALLER_STATS_LOG_LEVEL: 'silent',
      CALLER_STATS_BATCH_QUERIES_MAX: '3',
      CALLER_STATS_BODY_BYTES_MAX: '2000',
    };
    const server = await place.serve([], { env });
    expect(server.url).toMatch(/^http:\/\/localhost:\d+$/);
    const { project, admin, recording } = firstRunOf(server);
    expect([admin, recording]).toEqual([
      expect.stringMatching(/^acme_admin_/),
      expect.stringMatching(/^acme_recording_/),
    ]);
    const client = clientOf(server, project, recording);
    expect(await client.record(batchOf(1, 3))).toMatchObject({ status: 200 });
    expect(await client.record(batchOf(1, 4))).toMatchObject({ status: 413 });
    expect(await client.record([{ id: 'x'.repeat(2000), caller: 'web' }])).toMatchObject({ status: 413 });
    expect(await server.stop()).toMatchObject({ status: 0, stderr: '' });
  });

  test('are read from flags before the environment', async () => {
    const place = await emptyPlace();
    const server = await place.serve(
      [
        ...['--host', '127.0.0.1', '--database', `sqlite:${place.path('flag.db')}`],
        ...['--key-prefix', 'flag', '--log-level', 'silent'],
        ...['--batch-queries-max', '2', '--body-bytes-max', '4096'],
        ...['--database-connections-max', '2', '--database-timeout-ms', '100'],
        ...['--key-life-max', '7d', '--trust-proxy', '10.0.0.0/8, ::1', '--audit-days', '36500'],
        ...['--requests-per-minute', '0', '--failures-per-minute', '0'],
        ...['--base-path', '/', '--public-url', 'none'],
        ...['--oidc-issuer', 'none', '--metrics', 'none'],
      ],
      { env: badEnvironment },
    );
    expect(server.url).toMatch(/^http:\/\/127\.0\.0\.1:\d+$/);
    expect(existsSync(place.path('flag.db'))).toBe(true);
    const { project, admin } = firstRunOf(server);
    expect(admin).toMatch(/^flag_admin_/);
    expect(await clientOf(server, project, admin).record(batchOf(1, 3))).toMatchObject({ status: 413 });
    expect(await server.stop()).toMatchObject({ status: 0, stderr: '' });
  });

  test('with empty values count as not set', async () => {
    const place = await emptyPlace();
    const empty = Object.fromEntries(Object.keys(badEnvironment).map((name) => [name, '']));
    const { DATABASE_URL: _, ...env } = empty;
    const server = await place.serve([], { env: { ...env, CALLER_STATS_PORT: '80' } });
    expect(firstRunOf(server).admin).toMatch(/^cs_admin_/);
    const { stderr } = await server.stop();
    expect(stderr).toContain('CALLER_STATS_PORT: is not a setting and has no effect; did you mean PORT?');
  });

  test.concurrent('with invalid values are all reported, by variable', async () => {
    const place = await emptyPlace();
    const stderr = await refusal(place.run(['serve'], { env: badEnvironment }), 2);
    const lines = stderr.trimEnd().split('\n');
    expect(lines).toHaveLength(Object.keys(badEnvironment).length);
    for (const [name, value] of Object.entries(badEnvironment)) {
      expect(lines).toContainEqual(
        expect.stringContaining(`caller-stats: ${name}: ${JSON.stringify(value)} `),
      );
    }
  });

  test.concurrent('with invalid values are all reported, by flag', async () => {
    const place = await emptyPlace();
    const bad = {
      ...{ '--host': 'a b', '--port': '-1', '--database': 'caller-stats.db', '--key-prefix': '' },
      ...{ '--log-level': '', '--batch-queries-max': '1e3', '--body-bytes-max': '1' },
      ...{ '--database-connections-max': 'x', '--database-timeout-ms': '99' },
      ...{ '--key-life-max': '3651d', '--trust-proxy': 'proxy.example', '--audit-days': '36501' },
      ...{ '--requests-per-minute': '1.5', '--failures-per-minute': 'many' },
      ...{ '--metrics': '10.0.0.1:65536' },
    };
    const stderr = await refusal(place.run(['serve', ...Object.entries(bad).flat()]), 2);
    const flags = [...stderr.matchAll(/^caller-stats: (--[a-z-]+): /gm)].map(([, flag]) => flag);
    expect(flags.toSorted()).toEqual(Object.keys(bad).toSorted());
    expect(stderr.trimEnd().split('\n')).toHaveLength(flags.length);
  });

  test.concurrent('do not accept a provider whose tokens others could read or change', async () => {
    const place = await emptyPlace();
    for (const issuer of ['http://sso.example.org', 'http://127.0.0.1.example.org', 'http://10.0.0.1']) {
      expect(await refusal(place.run(['serve', '--oidc-issuer', issuer]), 2)).toMatch(
        /^caller-stats: --oidc-issuer: ".*" is not an address that begins with https:\/\/\n$/,
      );
    }
  });

  test.concurrent('of single sign-on are required together, and missing ones are reported', async () => {
    const place = await emptyPlace();
    const needed = {
      CALLER_STATS_OIDC_ISSUER: ['https://sso.example.org', '--oidc-issuer'],
      CALLER_STATS_OIDC_CLIENT_ID: ['caller-stats', '--oidc-client-id'],
      CALLER_STATS_OIDC_CLIENT_SECRET: ['hunter2', 'CALLER_STATS_OIDC_CLIENT_SECRET'],
    } as const;
    for (const [given, [value]] of Object.entries(needed)) {
      const stderr = await refusal(place.run(['serve'], { env: { [given]: value } }), 2);
      const missing = Object.entries(needed).flatMap(([name, [, flag]]) => (name === given ? [] : [flag]));
      expect(stderr).toBe(
        [...missing, '--public-url']
          .map((flag) => `caller-stats: ${flag}: is missing; single sign-on needs it\n`)
          .join(''),
      );
    }
  });

  test('that are secrets have no flags and appear in no output', async () => {
    const place = await emptyPlace();
    const secret = 'hunter2hunter2hunter2hunter2';
    const short = await place.run(['serve'], { env: { CALLER_STATS_SECRET: secret } });
    expect([short.status, short.stdout]).toEqual([2, '']);
    expect(short.stderr).toMatch(/^caller-stats: CALLER_STATS_SECRET: .*is shorter than 32 characters/);
    for (const flag of ['--secret', '--oidc-client-secret']) {
      const { status, stderr } = await place.run(['serve', flag, secret]);
      expect([status, stderr]).toEqual([2, expect.stringMatching(/unknown option/)]);
    }
    for (const url of [
      `smtp://user:${secret}@mail.example.org`,
      `http://${secret}`,
      'smtp://a.test?from=x',
    ]) {
      const { status, stderr } = await place.run(['serve'], { env: { CALLER_STATS_SMTP_URL: url } });
      expect([status, stderr]).toEqual([
        2,
        expect.stringMatching(/^caller-stats: CALLER_STATS_SMTP_URL: its value /),
      ]);
      expect(stderr).not.toContain(secret);
    }
    const env = {
      CALLER_STATS_SECRET: `${secret}${secret}`,
      CALLER_STATS_OIDC_ISSUER: 'http://127.0.0.1:9',
      CALLER_STATS_OIDC_CLIENT_ID: 'caller-stats',
      CALLER_STATS_OIDC_CLIENT_SECRET: `client ${secret}`,
      CALLER_STATS_PUBLIC_URL: 'http://127.0.0.1:4000',
    };
    const server = await place.spawnServer(['--log-level', 'trace'], { env });
    const { stdout: listed } = await runCommand('ps', ['-A', '-o', 'args=']);
    expect(listed).toContain(PROGRAM.at(-1));
    const sent = await fetch(`${server.url}/api/sign-in/oidc?to=/`, { redirect: 'manual' });
    expect([sent.status, sent.headers.get('location')]).toEqual([302, '/sign-in?problem=failed']);
    const { stdout, stderr } = await server.stop();
    for (const output of [short.stderr, listed, stdout, stderr, server.stdout])
      expect(output).not.toContain(secret);
  });

  test.concurrent('are shown without their password', async () => {
    const place = await emptyPlace();
    const url = 'postgres://user:hunter2@host:port/db';
    const stderr = await refusal(place.run(['verify', '--database', url]), 2);
    expect(stderr).toMatch(/^caller-stats: --database: its value has a port that is not a number/);
    expect(stderr).not.toContain('hunter2');
  });

  test.concurrent.each([
    'sqlite:',
    'sqlite::memory:',
    'sqlite://host/file.db',
    'mysql://localhost/db',
    'caller-stats.db',
  ])('do not accept the database %j', async (url) => {
    const place = await emptyPlace();
    expect(await refusal(place.run(['verify', '--database', url]), 2)).toMatch(
      /^caller-stats: --database: ".+" .+\n$/,
    );
  });
});

test('the passwords of a file of breached ones are refused, and a file of anything else', async () => {
  const place = await emptyPlace();
  const file = place.path('breached.txt');
  const serve = ['serve', '--port', '0', '--breached-passwords', file];
  const problem = `caller-stats: --breached-passwords: ${file} cannot be used: `;
  expect(await refusal(place.run(serve), 2)).toContain(`${problem}ENOENT`);
  const password = 'seven mountains over sunshine';
  writeFileSync(file, password);
  expect(await refusal(place.run(serve), 2)).toContain(`${problem}it has no SHA-1`);
  writeFileSync(file, `${createHash('sha1').update(password).digest('hex').toUpperCase()}:3\n`);
  const { url, stdout } = await place.serve(['--breached-passwords', file]);
  const token = matched(stdout, /\/set-up#(\S+)$/m);
  const setUp = (chosen: string) =>
    fetch(`${url}/api/set-up`, {
      method: 'POST',
      headers: { 'content-type': 'application/json', origin: url },
      body: JSON.stringify({ token, name: 'Ada', email: 'ada@example.org', password: chosen }),
    });
  const refused = await setUp(password);
  expect([refused.status, await refused.text()]).toEqual([400, expect.stringContaining('from a breach')]);
  expect((await setUp(`${password}!`)).status).toBe(204);
});

describe('serve reports that it cannot listen because', () => {
  test('the port is in use', async () => {
    const place = await placeWithProject();
    const { port } = new URL(await startHttpServer());
    const stderr = await refusal(place.run(['serve', '--port', port, '--log-level', 'warn']), 1);
    expect(stderr).toMatch(
      new RegExp(
        `^caller-stats: 127\\.0\\.0\\.1:${port} is in use by another program; choose another with --port`,
      ),
    );
    expect(stderr.trimEnd().split('\n')).toHaveLength(1);
  });

  test.concurrent('the address does not belong to this machine', async () => {
    const place = await placeWithProject();
    expect(await refusal(place.run(['serve', '--port', '0', '--host', '192.0.2.1']), 1)).toMatch(
      /^caller-stats: 192\.0\.2\.1:0 is not an address of this machine/m,
    );
  });
});

describe('the settings of a service', () => {
  test.concurrent('are read from a file by any command, before or after its name', async () => {
    const place = await placeWithProject();
    await writeFile(
      place.path('stats.env'),
      `DATABASE_URL=sqlite:${place.database}\nCALLER_STATS_KEY_PREFIX=acme\n`,
    );
    // The variable of the shell names another database.
    const elsewhere = { cwd: tmpdir(), env: { DATABASE_URL: 'sqlite:/nowhere/none.db' } };
    const run = (...args: string[]) => succeed(runCli(args, elsewhere));
    const settings = ['--settings', place.path('stats.env')];
    expect((await run(...settings, 'project', 'list')).stdout).toContain('Docs');
    expect((await run('key', 'create', '--name', 'x', ...settings)).stdout).toMatch(/^acme_admin_/);
    expect(await refusal(runCli(['verify', '--settings', place.path('none.env')]), 1)).toContain(
      `There is no file ${place.path('none.env')}`,
    );
  });

  test.concurrent.each([
    ['migrate'],
    ['project create X'],
    ['organization create X'],
    ['key create --name X'],
    ['member invite a@example.org'],
    ['verify'],
    ['backup copy.db'],
    ['compact'],
    ['import - --project docs'],
  ])('%s creates no database that nobody named, and names the folder and the way', async (command) => {
    const { folder, path } = await emptyPlace();
    const refused = await refusal(runCli(command.split(' '), { cwd: folder }), 1);
    expect(refused).toContain(`There is no database ${path('data/caller-stats.db')}`);
    expect(refused).toContain('caller-stats --settings /etc/caller-stats.env');
    expect(await readdir(folder)).toEqual([]);
  });

  test.concurrent('doctor says that none are given', async () => {
    const { folder, path } = await emptyPlace();
    const { stdout } = await succeed(
      runCli(['doctor', '--port', '0'], { cwd: folder, env: { CALLER_STATS_LOGLEVEL: 'info' } }),
    );
    expect(stdout).toContain(
      `warning  settings: no database is named, and there is no ${path('data/caller-stats.db')}`,
    );
    expect(stdout).toContain('did you mean CALLER_STATS_LOG_LEVEL?');
  });
});
