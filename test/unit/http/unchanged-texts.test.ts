import { expect, test } from 'vitest';
import { UnchangedTexts } from '../../../src/http/unchanged-texts.js';
import type { SyncReads } from '../../../src/storage/ports/store.js';

/** A store of one number, whose changes are its commits. */
function counting() {
  const state = { version: 1, count: 0, created: 0 };
  const reads = () => ({ version: state.version }) as SyncReads;
  const texts = new UnchangedTexts({ readSync: (work) => work(reads()) });
  const commit = () => {
    state.version++;
    state.count++;
  };
  const create = async () => {
    state.created++;
    return String(state.count);
  };
  return { state, texts, commit, create };
}

test('each text is created once until something is committed', async () => {
  const { state, texts, commit, create } = counting();
  expect([await texts.get({ project: 'a' }, create), await texts.get({ project: 'a' }, create)]).toEqual([
    '0',
    '0',
  ]);
  expect(state.created).toBe(1);
  await texts.get({ project: 'b' }, create);
  expect(state.created).toBe(2);
  commit();
  expect(await texts.get({ project: 'a' }, create)).toBe('1');
  expect(state.created).toBe(3);
});

test('a text that was created during a commit is not kept', async () => {
  const { texts, commit, create } = counting();
  const before = texts.get({}, async () => {
    const text = await create();
    commit();
    // Another request notices the commit first.
    await texts.get({ other: true }, create);
    return text;
  });
  expect(await before).toBe('0');
  expect(await texts.get({}, create)).toBe('1');
});

test('texts that are too long are not kept', async () => {
  const { state, texts } = counting();
  const create = async () => {
    state.created++;
    return 'x'.repeat(200_001);
  };
  await texts.get({}, create);
  await texts.get({}, create);
  expect(state.created).toBe(2);
});

test('stores that cannot tell create each text anew', async () => {
  const { state, create } = counting();
  const texts = new UnchangedTexts({});
  await texts.get({}, create);
  await texts.get({}, create);
  expect(state.created).toBe(2);
});
