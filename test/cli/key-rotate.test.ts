import { describe, expect, test } from 'vitest';
import { parseKeyType } from '../../src/domain/keys/api-key.js';
import { dayMs } from '../../src/domain/time/duration.js';
import { runCli } from '../support/cli/cli.js';
import { clientOf } from '../support/cli/cli-client.js';
import { type CreatedKey, createKey, jsonOf, keysOf, type ListedKey } from '../support/cli/cli-keys.js';
import { alter, type Place, placeWithProject, project, refusal, succeed } from '../support/cli/cli-place.js';

/** The time of the last rotation. */
async function rotatedAt(place: Place): Promise<number> {
  const [entry] = await jsonOf<{ at: string; action: string }[]>(place, ['audit']);
  expect(entry?.action).toBe('key.rotate');
  return Date.parse(entry?.at ?? '');
}

const lifeOf = ({ createdAt, expiresAt }: ListedKey) => Date.parse(expiresAt ?? '') - Date.parse(createdAt);

describe('key rotate refuses', () => {
  test.concurrent.each([
    ['a time without a unit', '24'],
    ['seconds', '30s'],
    ['a time before now', '-1h'],
    ['a fraction', '1.5h'],
    ['empty', ''],
    ['more than 30 days', '31d'],
    ['more than 30 days in minutes', '43201m'],
  ])('a grace period: %s', async (_what, grace) => {
    const args = ['rotate', 'id', `--grace=${grace}`, '--key-life-max', 'x', '--key-prefix', 'C-S'];
    const stderr = await refusal(runCli(['key', ...args]), 2);
    const lines = stderr.trimEnd().split('\n');
    expect(lines.map((line) => /^caller-stats: (--[a-z-]+): "/.exec(line)?.[1]).toSorted()).toEqual([
      '--grace',
      '--key-life-max',
      '--key-prefix',
    ]);
  });

  test('an inactive, an already rotated and an unknown key', async () => {
    const place = await placeWithProject();
    const revoked = await createKey(place, 'revoked');
    const disabled = await createKey(place, 'disabled');
    const expired = await createKey(place, 'expired');
    const rotated = await createKey(place, 'rotated');
    await succeed(place.run(['key', 'revoke', revoked.id]));
    await succeed(place.run(['key', 'disable', disabled.id]));
    alter(place, "UPDATE api_key SET expires_at = created_at + 1 WHERE name = 'expired'");
    const successor = await jsonOf<CreatedKey>(place, ['key', 'rotate', rotated.id]);
    const before = await keysOf(place);
    const log = await jsonOf<object[]>(place, ['audit']);
    const cases = [
      [revoked.id, `The key ${revoked.id} is revoked; only an active key can be rotated.`],
      [disabled.id, `The key ${disabled.id} is disabled; only an active key can be rotated.`],
      [expired.id, `The key ${expired.id} is expired; only an active key can be rotated.`],
      [rotated.id, `The key ${rotated.id} was already rotated; rotate its successor ${successor.id}.`],
      ['none', 'There is no key none.'],
    ] as const;
    for (const [id, message] of cases) {
      expect(await place.run(['key', 'rotate', id])).toEqual({
        status: 1,
        signal: null,
        stdout: '',
        stderr: `caller-stats: ${message}\n`,
      });
    }
    expect(await keysOf(place)).toEqual(before);
    expect(await jsonOf(place, ['audit'])).toEqual(log);
  });
});

describe('key rotate', () => {
  test('prints the successor once, and both keys work during the grace period', async () => {
    const place = await placeWithProject();
    const old = await createKey(place, 'Mine', '--scope', 'read', '--allow', '127.0.0.1', '--expires', '7d');
    const server = await place.serve();
    expect(await clientOf(server, project, old.key).count()).toMatchObject({ status: 200 });
    const { stdout, stderr } = await succeed(place.run(['key', 'rotate', old.id]));
    const successor = stdout.trim();
    expect(parseKeyType(successor)).toBe('admin');
    expect(stdout).toBe(`${successor}\n`);
    expect(stderr).not.toContain(successor);
    const at = await rotatedAt(place);
    const end = new Date(at + dayMs).toISOString();
    const [first, second, ...more] = await keysOf(place);
    expect(more).toEqual([]);
    const { key: _, ...kept } = old;
    expect(first).toEqual({
      ...kept,
      expiresAt: end,
      successor: second?.id,
      lastUsedAt: expect.any(String),
    });
    expect(second).toMatchObject({ name: 'Mine', scopes: ['read'], allow: ['127.0.0.1'], status: 'active' });
    expect(second).toMatchObject({ successor: null, lastUsedAt: null, createdBy: 'command line' });
    expect(second && lifeOf(second)).toBe(7 * dayMs);
    expect(second?.createdAt).toBe(new Date(at).toISOString());
    expect(stderr).toMatch(
      new RegExp(
        `^Key ${second?.id} takes over from ${old.id} \\(Mine, \\S+…\\S+\\), which works until ${end}\\.$`,
        'm',
      ),
    );
    for (const key of [old.key, successor]) {
      const client = clientOf(server, project, key);
      expect(await client.count()).toMatchObject({ status: 200 });
      expect(await client.record([{ id: 'a', caller: 'web' }])).toMatchObject({ status: 403 });
    }
    alter(place, `UPDATE api_key SET expires_at = ${Date.now()} WHERE id = '${old.id}'`);
    expect(await clientOf(server, project, old.key).count()).toMatchObject({
      status: 401,
      body: { error: 'The API key is expired.' },
    });
    expect(await clientOf(server, project, successor).count()).toMatchObject({ status: 200 });
  });

  test('without a grace period ends the old key with the next request', async () => {
    const place = await placeWithProject();
    const old = await createKey(
      place,
      'a',
      '--type',
      'recording',
      '--project',
      project,
      '--expires',
      'never',
    );
    const server = await place.serve();
    const query = { id: 'a', caller: 'web' };
    expect(await clientOf(server, project, old.key).record([query])).toMatchObject({ status: 200 });
    const made = await jsonOf<CreatedKey>(place, ['key', 'rotate', old.id, '--grace', '0']);
    expect(made).toMatchObject({ type: 'recording', project, scopes: ['write'], expiresAt: null, name: 'a' });
    expect(await clientOf(server, project, old.key).record([query])).toMatchObject({
      status: 401,
      body: { error: 'The API key is expired.' },
    });
    expect(await clientOf(server, project, made.key).record([query])).toMatchObject({
      status: 200,
      body: { duplicates: 1 },
    });
    const { key: _, ...kept } = made;
    expect(await keysOf(place)).toMatchObject([
      {
        id: old.id,
        status: 'expired',
        successor: made.id,
        expiresAt: new Date(await rotatedAt(place)).toISOString(),
      },
      { ...kept, lastUsedAt: expect.any(String) },
    ]);
    // The successor can be rotated as well.
    const next = await jsonOf<CreatedKey>(place, ['key', 'rotate', made.id, '--grace', '30m']);
    expect((await keysOf(place)).map(({ successor }) => successor)).toEqual([made.id, next.id, null]);
  });

  test.concurrent('does not extend the lifetime of the old key', async () => {
    const place = await placeWithProject();
    const old = await createKey(place, 'a', '--expires', '1d');
    const { stderr } = await succeed(place.run(['key', 'rotate', old.id, '--grace', '7d']));
    expect(stderr).toContain(`which works until ${old.expiresAt}.`);
    expect((await keysOf(place))[0]).toMatchObject({ id: old.id, expiresAt: old.expiresAt });
  });

  test.concurrent('limits the lifetime of the successor to the longest one allowed now', async () => {
    const place = await placeWithProject();
    const lives: number[] = [];
    for (const expires of ['never', '90d', '2d']) {
      const { id } = await createKey(place, expires, '--expires', expires);
      lives.push(lifeOf(await jsonOf<CreatedKey>(place, ['key', 'rotate', id, '--key-life-max', '7d'])));
    }
    expect(lives).toEqual([7 * dayMs, 7 * dayMs, 2 * dayMs]);
  });

  test.concurrent('creates one successor when run several times at once', async () => {
    const place = await placeWithProject();
    const old = await createKey(place, 'a');
    const runs = await Promise.all([1, 2, 3].map(() => place.run(['key', 'rotate', old.id])));
    expect(runs.map(({ status }) => status).toSorted()).toEqual([0, 1, 1]);
    for (const { status, stdout, stderr } of runs) {
      if (status === 1)
        expect({ stdout, stderr }).toEqual({
          stdout: '',
          stderr: expect.stringMatching(/already rotated|rotated already/),
        });
    }
    const [first, second, ...more] = await keysOf(place);
    expect(more).toEqual([]);
    expect(first?.successor).toBe(second?.id);
  });
});
