/**
 * The commands of keys: what they read, print and change. The rules of keys are tested in `test/domain`, what a store does
 * with them in `test/conformance/keys.ts`, and what a server does in `test/program/keys/key-matrix.test.ts`.
 */
import { describe, expect, test } from 'vitest';
import { parseKeyType } from '../../../src/domain/keys/api-key.js';
import { dayMs } from '../../../src/domain/time/duration.js';
import { firstRunOf, matched, runCli } from '../../support/cli/cli.js';
import { clientOf } from '../../support/cli/cli-client.js';
import { type CreatedKey, createKey, jsonOf, keysOf, type ListedKey } from '../../support/cli/cli-keys.js';
import {
  emptyPlace,
  firstRow,
  makeKey,
  placeWithProject,
  project,
  refusal,
  succeed,
} from '../../support/cli/cli-place.js';

/** The lifetime of a key in days. */
function lifeDaysOf({ createdAt, expiresAt }: Pick<ListedKey, 'createdAt' | 'expiresAt'>): number | null {
  return expiresAt === null ? null : (Date.parse(expiresAt) - Date.parse(createdAt)) / dayMs;
}

describe('key create', () => {
  test.concurrent.each([
    ['no name', [], ['--name <name>']],
    ['an unknown type', ['--name', 'a', '--type', 'owner'], ['admin, recording']],
    [
      'several invalid options at once',
      [
        ...[
          '--name',
          ' ',
          '--type',
          'recording',
          '--scope',
          'all',
          '--expires',
          'soon',
          '--allow',
          '0.0.0.0/1',
        ],
        ...['--allow', 'x', '--key-prefix', 'C-S', '--key-life-max', 'long'],
      ],
      [
        ...[
          '--name: ',
          '--project: ',
          '--scope: "all"',
          '--scope: ',
          '--expires: "soon"',
          '"0.0.0.0/1" is wider',
        ],
        ...['--allow: "x"', '--key-prefix: "C-S"', '--key-life-max: "long"'],
      ],
    ],
  ])('refuses %s', async (_what, args, messages) => {
    const stderr = await refusal(runCli(['key', 'create', ...args]), 2);
    for (const message of messages) expect(stderr).toContain(message);
  });

  test.concurrent('refuses an unknown project, and a life longer than the setting', async () => {
    const place = await placeWithProject();
    const create = ['key', 'create', '--name', 'a'];
    expect(await refusal(place.run([...create, '--type', 'recording', '--project', 'other']), 1)).toBe(
      'caller-stats: There is no project other.\n',
    );
    const said = /^caller-stats: --expires: is later than the longest life of a key allows: \d{4}-.+Z\n$/;
    const byFlag = place.run([...create, '--expires', '8d', '--key-life-max', '7d']);
    const byVariable = place.run([...create, '--expires', '8d'], {
      env: { CALLER_STATS_KEY_LIFE_MAX: '7d' },
    });
    for (const run of [byFlag, byVariable]) expect(await refusal(run, 2)).toMatch(said);
    expect(await keysOf(place)).toEqual([]);
  });

  test.concurrent.each([
    ['admin', 90, []],
    ['recording', null, ['--project', project]],
    ['reading', 90, ['--project', project]],
  ] as const)('prints only the %s key on stdout', async (type, lifeDays, args) => {
    const place = await placeWithProject();
    const { stdout, stderr } = await succeed(
      place.run(['key', 'create', '--name', 'Mine', '--type', type, ...args]),
    );
    const key = matched(stdout, /^(cs_(?:admin|recording|reading)_[0-9A-Za-z]{49})\n$/);
    expect(parseKeyType(key)).toBe(type);
    expect(stderr).toMatch(
      /^Key [0-9a-z]{16} (never expires|expires \d{4}-.+Z)\. It is not shown again\.\n$/,
    );
    expect((await keysOf(place)).map(lifeDaysOf)).toEqual([lifeDays]);
    expect(stderr).not.toContain(key);
  });

  test.concurrent('prints the key and its properties as JSON', async () => {
    const place = await placeWithProject();
    const made = await createKey(
      place,
      'Mine',
      ...['--scope', 'read', '--expires', 'never', '--key-prefix', 'acme'],
      ...['--allow', '2001:DB8::/32', '--allow', '192.0.2.1'],
    );
    expect(made).toEqual({
      key: expect.stringMatching(/^acme_admin_[0-9A-Za-z]{49}$/),
      id: expect.stringMatching(/^[0-9a-z]{16}$/),
      name: 'Mine',
      type: 'admin',
      project: null,
      scopes: ['read'],
      allow: ['2001:db8::/32', '192.0.2.1'],
      start: made.key.slice(0, 'acme_admin_'.length + 4),
      end: made.key.slice(-4),
      status: 'active',
      createdAt: expect.stringMatching(/Z$/),
      createdBy: 'command line',
      expiresAt: null,
      disabledAt: null,
      revokedAt: null,
      lastUsedAt: null,
      successor: null,
    });
    const { stdout } = await place.run(['key', 'list']);
    expect(stdout).toMatch(/^\S+ +Mine +.+ active +read +2001:db8::\/32,192\.0\.2\.1 +\d{4}-/m);
  });
});

test('the keys of a first start have the longest life that the setting allows', async () => {
  const place = await placeWithProject();
  const database = ['--database', `sqlite:${place.path('first.db')}`];
  const server = await place.serve([...database, '--key-life-max', '7d']);
  await server.stop();
  const keys = await jsonOf<ListedKey[]>(place, ['key', 'list', ...database]);
  expect(keys.map(lifeDaysOf)).toEqual([7, 7]);
});

test('key list shows only the ends of each key', async () => {
  const place = await placeWithProject();
  const keys = [await makeKey(place, 'admin'), await makeKey(place, 'recording')];
  const table = await succeed(place.run(['key', 'list']));
  const json = await succeed(place.run(['key', 'list', '--json']));
  expect(table.stdout.split('\n')[0]).toMatch(
    /^ID +NAME +TYPE +PROJECT +KEY +STATUS +SCOPES +FROM +CREATED +BY +EXPIRES +LAST USED$/,
  );
  for (const key of keys) {
    const [start, end] = [key.slice(0, key.lastIndexOf('_') + 5), key.slice(-4)];
    expect(table.stdout).toContain(`${start}…${end}`);
    expect(JSON.parse(json.stdout)).toContainEqual(expect.objectContaining({ start, end }));
    expect(table.stdout + json.stdout).not.toContain(key.slice(0, key.lastIndexOf('_') + 6));
  }
  expect(table.stdout).toMatch(
    /^\S+ +A admin key +admin +\(all\) +\S+ +active +read,write +\(anywhere\) .+ command line +\S+Z +never$/m,
  );
  expect(table.stdout).toMatch(/^\S+ +A recording key +recording +docs +\S+ +active +write +\(anywhere\) /m);
});

describe('key rotate', () => {
  test('refuses a wrong grace period, an unknown key and one that is not active', async () => {
    const args = ['rotate', 'id', '--grace=31d', '--key-life-max', 'x', '--key-prefix', 'C-S'];
    const stderr = await refusal(runCli(['key', ...args]), 2);
    const lines = stderr.trimEnd().split('\n');
    expect(lines.map((line) => /^caller-stats: (--[a-z-]+): "/.exec(line)?.[1]).toSorted()).toEqual([
      '--grace',
      '--key-life-max',
      '--key-prefix',
    ]);
    const place = await placeWithProject();
    const { id } = await createKey(place, 'revoked');
    await succeed(place.run(['key', 'revoke', id]));
    const before = await keysOf(place);
    for (const [asked, message] of [
      [id, `The key ${id} is revoked; only an active key can be rotated.`],
      ['none', 'There is no key none.'],
    ] as const)
      expect(await refusal(place.run(['key', 'rotate', asked]), 1)).toBe(`caller-stats: ${message}\n`);
    expect(await keysOf(place)).toEqual(before);
  });

  test('prints the successor once, and ends the old key after the grace period', async () => {
    const place = await placeWithProject();
    const old = await createKey(place, 'Mine', '--scope', 'read', '--allow', '127.0.0.1', '--expires', '30d');
    const server = await place.serve();
    const { stdout, stderr } = await succeed(
      place.run(['key', 'rotate', old.id, '--grace', '24h', '--key-life-max', '7d']),
    );
    const successor = stdout.trim();
    expect(parseKeyType(successor)).toBe('admin');
    expect(stdout).toBe(`${successor}\n`);
    expect(stderr).not.toContain(successor);
    const [first, second, ...more] = await keysOf(place);
    expect(more).toEqual([]);
    const end = new Date(Date.parse(second?.createdAt ?? '') + dayMs).toISOString();
    const { key: _, ...kept } = old;
    expect(first).toEqual({ ...kept, expiresAt: end, successor: second?.id });
    expect(second).toMatchObject({ name: 'Mine', scopes: ['read'], allow: ['127.0.0.1'], status: 'active' });
    expect(second && lifeDaysOf(second)).toBe(7);
    expect(stderr).toMatch(
      new RegExp(
        `^Key ${second?.id} takes over from ${old.id} \\(Mine, \\S+…\\S+\\), which works until ${end}\\.$`,
        'm',
      ),
    );
    const count = (key: string) => clientOf(server, project, key).count();
    for (const key of [old.key, successor]) expect(await count(key)).toMatchObject({ status: 200 });
    const [, { id = '' } = {}] = await keysOf(place);
    const made = await jsonOf<CreatedKey>(place, ['key', 'rotate', id, '--grace', '0']);
    expect(await count(successor)).toMatchObject({ status: 401, body: { error: 'The API key is expired.' } });
    expect(await count(made.key)).toMatchObject({ status: 200 });
  });
});

describe.each(['revoke', 'disable', 'enable'])('key %s', (change) => {
  test.concurrent('requires the id of a key', async () => {
    const place = await placeWithProject();
    expect(await refusal(place.run(['key', change, 'nope']), 1)).toBe(
      'caller-stats: There is no key nope.\n',
    );
    expect(await runCli(['key', change])).toMatchObject({ status: 2, stdout: '' });
  });
});

test('a key is disabled, enabled and revoked while a server runs, from the next request on', async () => {
  const place = await placeWithProject();
  const { id, key, ...kept } = await createKey(place, 'Mine');
  const server = await place.serve();
  const client = clientOf(server, project, key);
  const change = async (what: string) => (await succeed(place.run(['key', what, id]))).stdout;
  const said = (what: string) => new RegExp(`^${what} ${id} \\(Mine, cs_admin_.{4}….{4}\\)\n$`);
  const refused = (status: string) => ({ status: 401, body: { error: `The API key is ${status}.` } });
  expect(await client.count()).toMatchObject({ status: 200 });
  expect(await change('disable')).toMatch(said('disabled'));
  expect(await client.count()).toMatchObject(refused('disabled'));
  expect(await jsonOf<ListedKey>(place, ['key', 'disable', id])).toEqual({
    ...kept,
    id,
    status: 'disabled',
    disabledAt: expect.stringMatching(/Z$/),
    lastUsedAt: expect.stringMatching(/Z$/),
  });
  expect(await change('enable')).toMatch(said('enabled'));
  expect(await client.count()).toMatchObject({ status: 200 });
  expect(await change('revoke')).toMatch(said('revoked'));
  expect(await client.count()).toMatchObject(refused('revoked'));
  // Enabling the key does not undo the revocation, and the command says so.
  expect(await change('enable')).toMatch(/^enabled .+, but it is still revoked\n$/);
  expect(await client.count()).toMatchObject(refused('revoked'));
});

test('no command prints a hash, or a key a second time', async () => {
  const place = await emptyPlace();
  const server = await place.serve(['--log-level', 'trace']);
  const { project: first, admin, recording } = firstRunOf(server);
  await clientOf(server, first, admin).count();
  const said: string[] = [];
  const run = async (...args: string[]) => {
    const { stdout, stderr } = await succeed(place.run(args));
    said.push(stdout, stderr);
    return stdout;
  };
  const made = [
    (await run('key', 'create', '--name', 'a')).trim(),
    (JSON.parse(await run('key', 'create', '--name', 'b', '--json')) as { key: string }).key,
  ];
  const [, , a, b] = await keysOf(place);
  made.push((await run('key', 'rotate', a?.id ?? '')).trim());
  made.push((JSON.parse(await run('key', 'rotate', b?.id ?? '', '--json')) as { key: string }).key);
  for (const key of made) expect(said.join().split(key)).toHaveLength(2);
  for (const json of [[], ['--json']]) {
    for (const change of ['disable', 'enable', 'revoke']) await run('key', change, a?.id ?? '', ...json);
    await run('key', 'list', ...json);
    await run('audit', ...json);
  }
  await run('copy', '--from', `sqlite:${place.database}`, '--to', `sqlite:${place.path('to.db')}`, '--json');
  for (const name of ['list', 'audit']) {
    const args = name === 'list' ? ['key', 'list', '--json'] : ['audit', '--json'];
    await run(...args, '--database', `sqlite:${place.path('to.db')}`);
  }
  said.push((await server.stop()).stderr);
  const text = said.join();
  for (const key of made) expect(text.split(key)).toHaveLength(2);
  for (const key of [admin, recording]) expect(text).not.toContain(key);
  const all = firstRow(place, 'SELECT group_concat(hash) AS hashes FROM api_key')['hashes'];
  const hashes = String(all).split(',');
  expect(hashes).toHaveLength(6);
  for (const hash of hashes) expect(text).not.toContain(hash);
});
