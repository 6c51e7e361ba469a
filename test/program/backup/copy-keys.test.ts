/** Copies of members and keys, and what a second copy updates. */
import { describe, expect, inject, test } from 'vitest';
import type { AuditEntry } from '../../../src/domain/people/audit.js';
import { DEFAULT_ORGANIZATION_ID } from '../../../src/domain/projects/organization.js';
import type { Store } from '../../../src/storage/ports/store.js';
import { clientOf } from '../../support/cli/cli-client.js';
import { type CreatedKey, createKey, jsonOf } from '../../support/cli/cli-keys.js';
import { alter, copyOf, emptyPlace, type Place, project, succeed } from '../../support/cli/cli-place.js';
import { at, copy, opened, type Reported } from '../../support/cli/copy.js';
import { newSchemaIn } from '../../support/storage/store.js';

const databaseUrl = inject('postgresServers').at(-1)?.url ?? '';
const both = [DEFAULT_ORGANIZATION_ID, 'acme'];
const inAcme = ['--organization', 'acme'];

/** The members and keys of both organizations. */
async function peopleAndKeysOf(store: Store) {
  return {
    members: await Promise.all(both.map((id) => store.directory.listMembers(id))),
    keys: await Promise.all(both.map((id) => store.directory.listKeys(id))),
  };
}

const logOf = async (store: Store): Promise<AuditEntry[][]> =>
  Promise.all(both.map((id) => store.directory.readAudit(id, { limit: 1000 })));

async function tallyOf(run: ReturnType<typeof copy>): Promise<Reported['keys']> {
  return (JSON.parse((await succeed(run)).stdout) as Reported).keys;
}

let template: Promise<Awaited<ReturnType<typeof fill>> & { place: Place }> | undefined;

/** Two organizations with members, and with a key in every state. */
async function fullPlace() {
  template ??= emptyPlace().then(async (place) => ({ place, ...(await fill(place)) }));
  const made = await template;
  return { ...made, place: await copyOf(made.place) };
}

async function fill(place: Place) {
  const run = (...args: string[]) => succeed(place.run(args));
  await run('project', 'create', 'Docs', '--id', project);
  await run('organization', 'create', 'Acme', '--id', 'acme');
  await run('project', 'create', 'Theirs', '--id', 'theirs', ...inAcme);
  // The query that the tests record again, so that the totals stay the same.
  const input = '{"id": "a", "caller": "web", "occurredAt": "2026-01-01T00:00:00Z"}';
  await succeed(place.run(['import', '-', '--project', project], { input }));
  await run('member', 'invite', '--without-link', 'ada@example.org', '--role', 'owner');
  await run('member', 'invite', '--without-link', 'ada@example.org', '--role', 'viewer', ...inAcme);
  await run('member', 'invite', '--without-link', 'bob@example.org', '--role', 'editor', ...inAcme);
  const limited = await createKey(
    place,
    'limited',
    '--scope',
    'read',
    '--allow',
    '127.0.0.0/8',
    '--allow',
    '::1',
  );
  const disabled = await createKey(place, 'disabled', '--type', 'recording', '--project', project);
  const rotated = await createKey(place, 'rotated', '--expires', '7d');
  const revoked = await createKey(place, 'revoked', '--expires', 'never', ...inAcme);
  await run('key', 'disable', disabled.id);
  const successor = await jsonOf<CreatedKey>(place, ['key', 'rotate', rotated.id]);
  await run('key', 'disable', revoked.id, ...inAcme);
  await run('key', 'revoke', revoked.id, ...inAcme);
  return { limited, disabled, rotated, successor, revoked };
}

/** A server's statuses for reading and for recording with a key. */
async function statusesAt(server: { url: string }, { key }: { key: string }): Promise<number[]> {
  const client = clientOf(server, project, key);
  return [(await client.count()).status, (await client.record([{ id: 'a', caller: 'web' }])).status];
}

const urlsOf = (place: Place) => [`sqlite:${place.database}`, newSchemaIn(databaseUrl)] as const;

describe('copy', () => {
  test('copies members and keys with all their properties, there and back', async () => {
    const { place, limited, disabled, rotated, successor, revoked } = await fullPlace();
    const [from, to] = urlsOf(place);
    const back = `sqlite:${place.path('back.db')}`;
    const source = await opened(from);
    const [before, log] = [await peopleAndKeysOf(source), await logOf(source)];
    expect(before.keys.flat()).toMatchObject([
      { id: limited.id, scopes: ['read'], allow: ['127.0.0.0/8', '::1'] },
      { id: disabled.id, disabledAt: expect.any(Number) },
      { id: rotated.id, successorId: successor.id },
      { id: successor.id, successorId: null },
      { id: revoked.id, disabledAt: expect.any(Number), revokedAt: expect.any(Number) },
    ]);
    expect(await tallyOf(copy(place, from, to, ['--json']))).toEqual({ copied: 5, present: 0 });
    expect(await tallyOf(copy(place, to, back, ['--json']))).toEqual({ copied: 5, present: 0 });
    for (const url of [to, back]) {
      const target = await opened(url);
      expect(await peopleAndKeysOf(target)).toEqual(before);
      // The audit log is not copied. The target's log has the changes that the copy made.
      const [ours = [], theirs = []] = await logOf(target);
      expect(ours.map(({ actor, action }) => `${actor} ${action}`).toSorted()).toEqual([
        ...Array.from({ length: 4 }, () => 'copy key.create'),
        'copy member.add',
        'copy project.create',
      ]);
      expect(theirs.map(({ actor, action }) => `${actor} ${action}`).toSorted()).toEqual([
        'copy key.create',
        'copy member.add',
        'copy member.add',
        'copy organization.create',
        'copy project.create',
      ]);
    }
    expect(await logOf(source)).toEqual(log);
    const server = await place.serve([], at(to));
    expect(await statusesAt(server, limited)).toEqual([200, 403]);
    expect(await statusesAt(server, disabled)).toEqual([401, 401]);
    expect(await statusesAt(server, rotated)).toEqual([200, 200]);
    expect(await statusesAt(server, successor)).toEqual([200, 200]);
  });

  test.each(['from SQLite to PostgreSQL', 'from PostgreSQL to SQLite'])(
    'copies later changes once: %s',
    async (direction) => {
      const full = await fullPlace();
      const { place, limited, disabled, successor } = full;
      const [file, schema] = urlsOf(place);
      const forth = direction.startsWith('from SQLite');
      if (!forth) await succeed(copy(place, file, schema));
      const [from, to] = forth ? [file, schema] : [schema, `sqlite:${place.path('other.db')}`];
      const run = (...args: string[]) => succeed(place.run(args, at(from)));
      await succeed(copy(place, from, to));
      const server = await place.serve([], at(to));
      expect(await statusesAt(server, limited)).toEqual([200, 403]);

      await run('key', 'disable', limited.id);
      await run('key', 'enable', disabled.id);
      const again = await run('key', 'rotate', successor.id, '--grace', '0', '--json');
      const next = JSON.parse(again.stdout) as CreatedKey;
      await run('member', 'invite', '--without-link', 'eve@example.org', '--role', 'owner');
      await run('member', 'change', 'ada@example.org', '--role', 'editor');
      const [source, target] = [await opened(from), await opened(to)];
      const [mine = [], others] = await logOf(target);
      expect(await tallyOf(copy(place, from, to, ['--json']))).toEqual({ copied: 1, present: 5 });
      const [there, here] = [await peopleAndKeysOf(source), await peopleAndKeysOf(target)];
      expect(here.members).toEqual(there.members);
      const withoutUse = (keys: typeof here.keys) => keys.flat().map((key) => ({ ...key, lastUsedAt: null }));
      expect(withoutUse(here.keys)).toEqual(withoutUse(there.keys));
      expect(await statusesAt(server, limited)).toEqual([401, 401]);
      expect(await statusesAt(server, disabled)).toEqual([401, 200]);
      expect(await statusesAt(server, successor)).toEqual([401, 401]);
      expect(await statusesAt(server, next)).toEqual([200, 200]);

      const [more = [], still] = await logOf(target);
      expect(still).toEqual(others);
      expect(more.slice(more.length - mine.length)).toEqual(mine);
      const added = more.slice(0, more.length - mine.length);
      expect(added.map(({ actor, action, targetId }) => [actor, action, targetId]).toSorted()).toEqual([
        ['copy', 'key.disable', limited.id],
        ['copy', 'key.enable', disabled.id],
        ['copy', 'key.rotate', successor.id],
        ['copy', 'member.add', 'eve@example.org'],
        ['copy', 'member.change', 'ada@example.org'],
      ]);
      await server.stop();
      const state = [await peopleAndKeysOf(target), await logOf(target)];
      expect(await tallyOf(copy(place, from, to, ['--json']))).toEqual({ copied: 0, present: 6 });
      expect([await peopleAndKeysOf(target), await logOf(target)]).toEqual(state);
    },
  );

  test('never reactivates a key that was revoked in the target', async () => {
    const { place, limited, successor } = await fullPlace();
    const [from, to] = urlsOf(place);
    await succeed(copy(place, from, to));
    for (const { id } of [limited, successor]) await succeed(place.run(['key', 'revoke', id], at(to)));
    await succeed(place.run(['key', 'disable', limited.id]));
    await succeed(place.run(['key', 'enable', limited.id]));
    const made = await jsonOf<CreatedKey>(place, ['key', 'rotate', successor.id]);
    await succeed(copy(place, from, to));
    const keys = await (await opened(to)).directory.listKeys(DEFAULT_ORGANIZATION_ID);
    for (const { id } of [limited, successor]) {
      expect(keys.find((key) => key.id === id)).toMatchObject({ revokedAt: expect.any(Number) });
    }
    expect(keys.find(({ id }) => id === made.id)).toMatchObject({ revokedAt: null, successorId: null });
  });

  test('copies a rotation even if the clock was set back before it', async () => {
    const { place, limited } = await fullPlace();
    const [from, to] = urlsOf(place);
    await succeed(copy(place, from, to));
    const made = await jsonOf<CreatedKey>(place, ['key', 'rotate', limited.id, '--grace', '0']);
    alter(place, `UPDATE api_key SET created_at = 1 WHERE id = '${made.id}'`);
    expect(await tallyOf(copy(place, from, to, ['--json']))).toEqual({ copied: 1, present: 5 });
    expect(await peopleAndKeysOf(await opened(to))).toEqual(await peopleAndKeysOf(await opened(from)));
  });
});
