/** What can become of a key: disabled, enabled, revoked, rotated. */
import { describe, expect, test } from 'vitest';
import type { ApiKey } from '../../src/domain/keys/api-key.js';
import { DEFAULT_ORGANIZATION_ID } from '../../src/domain/projects/organization.js';
import type { Store } from '../../src/storage/ports/store.js';
import { by, keyOf, type PlaceFactory, projectOf } from '../support/storage/store.js';

const notFound = { code: 'not_found' };
const org = DEFAULT_ORGANIZATION_ID;
const rival = { id: 'rival', name: 'Rival', createdAt: 500 };
const at = (time: number) => ({ ...by, at: time });

async function keyBy(store: Store, hash: string): Promise<ApiKey | undefined> {
  return (await store.directory.findAccess(hash, 'p'))?.key;
}

export function describeKeys(kind: string, factory: PlaceFactory): void {
  const openTwo = async () => {
    const { open } = await factory();
    const [one, other] = [await open(), await open()];
    await one.directory.createOrganization(rival, by);
    return { one, other };
  };

  describe(`${kind}: access`, () => {
    test('requests of one moment with the same key each get the project that they name', async () => {
      const { open } = await factory();
      const store = await open();
      const names = Array.from({ length: 8 }, (_, at) => `project-${at}`);
      for (const name of names) await store.directory.createProject(projectOf(name), by);
      for (const name of ['one', 'other']) await store.directory.createKey(keyOf(name), by);
      const asked = [...names, 'unknown', ...names.toReversed()].flatMap((name) => [
        ['hash of one', name] as const,
        ['hash of other', name] as const,
        ['hash of nobody', name] as const,
      ]);
      const answers = await Promise.all(asked.map(([hash, name]) => store.directory.findAccess(hash, name)));
      expect(answers.map((found) => found && [found.key.hash, found.project?.id])).toEqual(
        asked.map(([hash, name]) =>
          hash === 'hash of nobody' ? undefined : [hash, name === 'unknown' ? undefined : name],
        ),
      );
    });
  });

  describe(`${kind}: changing a key`, () => {
    test('finds and counts only keys of the organization, and lists all of them in their order', async () => {
      const { one } = await openTwo();
      const keys = Array.from({ length: 401 }, (_, number) =>
        keyOf(`k${(number * 7919) % 401}`, {
          createdAt: 1000 + (number % 3),
          createdBy: number % 2 === 0 ? 'ada@example.org' : 'bob@example.org',
          revokedAt: number % 5 === 0 ? 2000 : null,
        }),
      );
      const theirs = keyOf('theirs', { organizationId: 'rival', createdBy: 'ada@example.org' });
      for (const key of [...keys, theirs]) await one.directory.createKey(key, by);
      const sorted = keys.toSorted((key, other) =>
        key.createdAt !== other.createdAt ? key.createdAt - other.createdAt : key.id < other.id ? -1 : 1,
      );
      expect(await one.directory.listKeys(org)).toEqual(sorted);
      const adas = sorted.filter(({ createdBy }) => createdBy === 'ada@example.org');
      expect(await one.directory.listKeysBy(org, 'ada@example.org')).toEqual(adas);
      expect(await one.directory.countKeys(org)).toBe(keys.filter((key) => key.revokedAt === null).length);
      expect(await one.directory.countKeys('rival')).toBe(1);
      expect(await one.directory.findKey(org, 'k7')).toEqual(keys.find(({ id }) => id === 'k7'));
      expect(await one.directory.findKey(org, 'theirs')).toBeUndefined();
      expect(await one.directory.findKey(org, 'none')).toBeUndefined();
    });

    test('forgets the keys of an organization that were revoked first', async () => {
      const { one, other } = await openTwo();
      const revoked = [5000, 2000, 4000, 3000].map((revokedAt) => keyOf(`r${revokedAt}`, { revokedAt }));
      const active = keyOf('active', { expiresAt: 1500 });
      const theirs = keyOf('theirs', { organizationId: 'rival', revokedAt: 1000 });
      for (const key of [...revoked, active, theirs]) await one.directory.createKey(key, by);
      await other.directory.pruneKeys(org, 4);
      expect(await one.directory.listKeys(org)).toHaveLength(5);
      await other.directory.pruneKeys(org, 2);
      const left = (await one.directory.listKeys(org)).map(({ id }) => id);
      expect(left).toEqual(['active', 'r4000', 'r5000']);
      expect(await one.directory.listKeys('rival')).toEqual([theirs]);
      expect(await keyBy(other, 'hash of r2000')).toBeUndefined();
      expect(await keyBy(other, 'hash of r5000')).toMatchObject({ id: 'r5000' });
    });

    test('refuses a key of another organization and changes nothing', async () => {
      const { one } = await openTwo();
      const theirs = keyOf('theirs', { organizationId: 'rival', disabledAt: 1500 });
      await one.directory.createKey(theirs, by);
      for (const change of ['revoke', 'disable', 'enable'] as const) {
        for (const [organizationId, id] of [
          [org, 'theirs'],
          ['none', 'theirs'],
          ['rival', 'none'],
        ] as const) {
          await expect(one.directory.changeKey(organizationId, id, change, by)).rejects.toMatchObject(
            notFound,
          );
        }
      }
      expect(await one.directory.listKeys('rival')).toEqual([theirs]);
    });

    test('keeps the first time and takes effect at once on every handle', async () => {
      const { one, other } = await openTwo();
      const key = keyOf('k');
      await one.directory.createKey(key, by);
      await one.directory.createKey(keyOf('bystander'), by);
      expect(await keyBy(other, key.hash)).toEqual(key);
      const disabled = { ...key, disabledAt: 5000 };
      expect(await one.directory.changeKey(org, 'k', 'disable', at(5000))).toEqual(disabled);
      expect(await keyBy(other, key.hash)).toEqual(disabled);
      expect(await other.directory.changeKey(org, 'k', 'disable', at(6000))).toEqual(disabled);
      expect(await other.directory.changeKey(org, 'k', 'enable', at(7000))).toEqual(key);
      expect(await keyBy(one, key.hash)).toEqual(key);
      expect(await one.directory.changeKey(org, 'k', 'enable', at(8000))).toEqual(key);
      const again = { ...key, disabledAt: 9000 };
      expect(await one.directory.changeKey(org, 'k', 'disable', at(9000))).toEqual(again);
      expect(await other.directory.listKeys(org)).toEqual([keyOf('bystander'), again]);
    });

    test('never makes a revoked key valid again', async () => {
      const { one, other } = await openTwo();
      await one.directory.createKey(keyOf('k'), by);
      await one.directory.changeKey(org, 'k', 'disable', at(2000));
      await one.directory.changeKey(org, 'k', 'revoke', at(3000));
      expect(await other.directory.changeKey(org, 'k', 'enable', at(4000))).toEqual(
        keyOf('k', { revokedAt: 3000 }),
      );
      expect(await one.directory.changeKey(org, 'k', 'revoke', at(5000))).toEqual(
        keyOf('k', { revokedAt: 3000 }),
      );
      expect(await keyBy(other, 'hash of k')).toEqual(keyOf('k', { revokedAt: 3000 }));
    });

    test('preserves scopes and allowed addresses', async () => {
      const { one, other } = await openTwo();
      await one.directory.createProject(projectOf('p'), by);
      const keys = [
        keyOf('a', { scopes: ['read'], allow: ['192.0.2.1'] }),
        keyOf('b', { scopes: ['read', 'write'], allow: [] }),
        keyOf('c', {
          type: 'recording',
          projectId: 'p',
          scopes: ['write'],
          allow: ['192.0.2.0/24', '2001:db8::/32', '::1'],
          disabledAt: 1234,
          successorId: 'd',
        }),
        keyOf('e', { type: 'reading', projectId: 'p', scopes: ['read'] }),
      ];
      for (const key of keys) await one.directory.createKey(key, by);
      expect(await other.directory.listKeys(org)).toEqual(keys);
      for (const key of keys) expect(await keyBy(other, key.hash)).toEqual(key);
      expect(await one.directory.changeKey(org, 'a', 'disable', at(5000))).toEqual({
        ...keys[0],
        disabledAt: 5000,
      });
      expect(await one.directory.changeKey(org, 'c', 'enable', at(5000))).toEqual({
        ...keys[2],
        disabledAt: null,
      });
    });
  });

  describe(`${kind}: rotating a key`, () => {
    const successor = keyOf('new', { createdAt: 3000, expiresAt: 93_000, allow: ['192.0.2.1'] });
    const rotated = keyOf('old', { expiresAt: 4000, successorId: 'new' });

    test('refuses a key of another organization', async () => {
      const { one } = await openTwo();
      await one.directory.createKey(keyOf('old'), by);
      for (const [organizationId, id] of [
        ['rival', 'old'],
        [org, 'none'],
      ] as const) {
        const theirs = { ...successor, organizationId };
        await expect(one.directory.rotateKey(organizationId, id, theirs, 4000, by)).rejects.toMatchObject(
          notFound,
        );
      }
      expect(await one.directory.listKeys(org)).toEqual([keyOf('old')]);
      expect(await one.directory.listKeys('rival')).toEqual([]);
    });

    test('refuses a revoked or already rotated key and changes nothing', async () => {
      const { one } = await openTwo();
      await one.directory.createKey(keyOf('old'), by);
      await one.directory.createKey(keyOf('revoked', { revokedAt: 2000 }), by);
      await one.directory.rotateKey(org, 'old', successor, 4000, at(3000));
      const before = await one.directory.listKeys(org);
      for (const id of ['old', 'revoked']) {
        await expect(one.directory.rotateKey(org, id, keyOf('more'), 5000, by)).rejects.toMatchObject({
          code: 'invalid',
        });
      }
      expect(await one.directory.listKeys(org)).toEqual(before);
      expect(await keyBy(one, 'hash of more')).toBeUndefined();
    });

    test('keeps the old key unchanged if the successor is taken or its project is missing', async () => {
      const { one, other } = await openTwo();
      await one.directory.createKey(keyOf('old'), by);
      await one.directory.createKey(keyOf('taken', { createdAt: 2000 }), by);
      const wrong = [
        [keyOf('taken', { hash: 'another hash' }), 'already_exists'],
        [keyOf('new', { hash: 'hash of taken' }), 'already_exists'],
        [keyOf('old', { hash: 'another hash' }), 'already_exists'],
        [keyOf('new', { type: 'recording', projectId: 'none', scopes: ['write'] }), 'not_found'],
      ] as const;
      for (const [bad, code] of wrong) {
        await expect(one.directory.rotateKey(org, 'old', bad, 4000, by)).rejects.toMatchObject({ code });
        expect(await keyBy(other, 'hash of old')).toEqual(keyOf('old'));
      }
      expect(await one.directory.listKeys(org)).toEqual([keyOf('old'), keyOf('taken', { createdAt: 2000 })]);
      await one.directory.rotateKey(org, 'old', successor, 4000, at(3000));
    });

    test('changes both keys at once on every handle', async () => {
      const { one, other } = await openTwo();
      await one.directory.createKey(keyOf('old', { expiresAt: 50_000 }), by);
      await one.directory.createKey(keyOf('bystander'), by);
      expect(await keyBy(other, successor.hash)).toBeUndefined();
      await one.directory.rotateKey(org, 'old', successor, 4000, at(3000));
      expect(await keyBy(other, 'hash of old')).toEqual(rotated);
      expect(await keyBy(other, successor.hash)).toEqual(successor);
      expect(await other.directory.listKeys(org)).toEqual([keyOf('bystander'), rotated, successor]);
      // The successor is the one to rotate now.
      await other.directory.rotateKey(org, 'new', keyOf('newest'), 6000, at(5000));
      expect(await keyBy(one, successor.hash)).toEqual({
        ...successor,
        expiresAt: 6000,
        successorId: 'newest',
      });
    });

    test('creates exactly one successor when several handles rotate concurrently', async () => {
      const { one, other } = await openTwo();
      await one.directory.createKey(keyOf('old'), by);
      const tries = Array.from({ length: 10 }, (_, index) => index);
      const results = await Promise.allSettled(
        tries.map((index) =>
          (index % 2 === 0 ? one : other).directory.rotateKey(
            org,
            'old',
            keyOf(`new${index}`),
            4000 + index,
            by,
          ),
        ),
      );
      const won = tries.filter((index) => results[index]?.status === 'fulfilled');
      expect(won).toHaveLength(1);
      for (const result of results) {
        if (result.status === 'rejected') expect(result.reason).toMatchObject({ code: 'invalid' });
      }
      const [winner = -1] = won;
      expect(await one.directory.listKeys(org)).toEqual([
        keyOf(`new${winner}`),
        keyOf('old', { expiresAt: 4000 + winner, successorId: `new${winner}` }),
      ]);
    });
  });
}
