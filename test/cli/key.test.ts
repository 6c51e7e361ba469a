import { describe, expect, test } from 'vitest';
import { parseKeyType } from '../../src/domain/keys/api-key.js';
import { dayMs } from '../../src/domain/time/duration.js';
import { matched, runCli } from '../support/cli/cli.js';
import { clientOf } from '../support/cli/cli-client.js';
import { keysOf, type ListedKey } from '../support/cli/cli-keys.js';
import { alter, makeKey, placeWithProject, project, refusal, succeed } from '../support/cli/cli-place.js';

describe('key create', () => {
  test.concurrent.each([
    ['admin', []],
    ['recording', ['--project', project]],
    ['reading', ['--project', project]],
  ] as const)('prints only the %s key on stdout', async (type, args) => {
    const place = await placeWithProject();
    const { stdout, stderr } = await succeed(
      place.run(['key', 'create', '--name', 'Mine', '--type', type, ...args]),
    );
    const key = matched(stdout, /^(cs_(?:admin|recording|reading)_[0-9A-Za-z]{49})\n$/);
    expect(parseKeyType(key)).toBe(type);
    expect(stderr).toMatch(/^Key [0-9a-z]{16} expires \d{4}-.+Z\. It is not shown again\.\n$/);
    expect(stderr).not.toContain(key);
  });

  test.concurrent('prefers the key prefix of the flag to that of the environment', async () => {
    const place = await placeWithProject();
    const env = { CALLER_STATS_KEY_PREFIX: 'acme' };
    const [fromEnvironment, fromFlag] = await Promise.all([
      succeed(place.run(['key', 'create', '--name', 'a'], { env })),
      succeed(place.run(['key', 'create', '--name', 'b', '--key-prefix', 'other1'], { env })),
    ]);
    expect(fromEnvironment.stdout).toMatch(/^acme_admin_[0-9A-Za-z]{49}\n$/);
    expect(fromFlag.stdout).toMatch(/^other1_admin_[0-9A-Za-z]{49}\n$/);
  });

  test.concurrent('creates a key that expires at a date', async () => {
    const place = await placeWithProject();
    const date = new Date(Date.now() + 400 * dayMs).toISOString().slice(0, 10);
    const { stderr } = await succeed(place.run(['key', 'create', '--name', 'a', '--expires', date]));
    expect(stderr).toContain(` expires ${date}T00:00:00.000Z.`);
  });

  test.concurrent('prints the key and its properties as JSON', async () => {
    const place = await placeWithProject();
    const args = ['--type', 'recording', '--project', project, '--expires', 'never', '--json'];
    const { stdout } = await succeed(place.run(['key', 'create', '--name', 'Mine', ...args]));
    const made = JSON.parse(stdout) as { key: string };
    expect(made).toEqual({
      key: expect.stringMatching(/^cs_recording_[0-9A-Za-z]{49}$/),
      id: expect.stringMatching(/^[0-9a-z]{16}$/),
      name: 'Mine',
      type: 'recording',
      project,
      scopes: ['write'],
      allow: [],
      start: made.key.slice(0, 'cs_recording_'.length + 4),
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
  });

  test.concurrent.each([
    ['an empty name', ['--name', ''], ['--name: ']],
    ['no name', [], ['--name <name>']],
    ['an unknown type', ['--name', 'a', '--type', 'owner'], ['admin, recording']],
    ['a recording key without a project', ['--name', 'a', '--type', 'recording'], ['--project: ']],
    ['an admin key with a project', ['--name', 'a', '--project', project], ['--project: ']],
    ['a lifetime of no days', ['--name', 'a', '--expires', '0d'], ['--expires: "0d" is not in the future']],
    [
      'a lifetime in hours',
      ['--name', 'a', '--expires', '90h'],
      ['--expires: "90h" is not a number of days'],
    ],
    ['a past date', ['--name', 'a', '--expires', '2020-01-01'], ['--expires: ']],
    ['an impossible date', ['--name', 'a', '--expires', '2099-02-30'], ['--expires: ']],
    ['a bad prefix', ['--name', 'a', '--key-prefix', 'C-S'], ['--key-prefix: "C-S"']],
    [
      'several invalid options at once',
      ['--name', ' ', '--type', 'recording', '--expires', 'soon', '--key-prefix', 'C-S'],
      ['--name: ', '--project: ', '--expires: ', '--key-prefix: '],
    ],
  ])('refuses %s', async (_what, args, messages) => {
    const stderr = await refusal(runCli(['key', 'create', ...args]), 2);
    for (const message of messages) expect(stderr).toContain(message);
  });

  test.concurrent('refuses an unknown project', async () => {
    const place = await placeWithProject();
    expect(
      await refusal(
        place.run(['key', 'create', '--name', 'a', '--type', 'recording', '--project', 'other']),
        1,
      ),
    ).toBe('caller-stats: There is no project other.\n');
  });
});

describe('key list', () => {
  test.concurrent('shows only the ends of each key', async () => {
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
    expect(table.stdout).toMatch(
      /^\S+ +A recording key +recording +docs +\S+ +active +write +\(anywhere\) /m,
    );
  });

  test('shows the status and the last use of keys', async () => {
    const place = await placeWithProject();
    const [expired, used, revoked] = await Promise.all([
      place.run(['key', 'create', '--name', 'expired']),
      place.run(['key', 'create', '--name', 'used']),
      place.run(['key', 'create', '--name', 'revoked', '--json']),
    ]);
    expect([expired, used, revoked].map(({ status }) => status)).toEqual([0, 0, 0]);
    alter(place, "UPDATE api_key SET expires_at = created_at + 1 WHERE name = 'expired'");
    const { id } = JSON.parse(revoked.stdout) as ListedKey;
    await succeed(place.run(['key', 'revoke', id]));
    const server = await place.serve();
    expect(await clientOf(server, project, used.stdout.trim()).count()).toMatchObject({ status: 200 });
    expect(await clientOf(server, project, expired.stdout.trim()).count()).toMatchObject({
      status: 401,
      body: { error: 'The API key is expired.' },
    });
    await server.stop();
    const statuses = (await keysOf(place)).map(({ name, status, lastUsedAt }) => [name, status, lastUsedAt]);
    expect(statuses).toContainEqual(['expired', 'expired', null]);
    expect(statuses).toContainEqual(['used', 'active', expect.stringMatching(/Z$/)]);
    expect(statuses).toContainEqual(['revoked', 'revoked', null]);
  });
});
