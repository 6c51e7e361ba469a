/** Names that end a text of SQL, in everything that a server asks of its store. */
import { expect, test } from 'vitest';
import { doAll } from '../../support/storage/everything.js';
import { placeFactories } from '../../support/storage/store.js';

test.each(placeFactories)('on %s, they are values of every statement', async (_kind, factory) => {
  const store = await (await factory()).open();
  await doAll(store, 'a');
  for (const name of [`it's`, `"x" $1 ? -- ' OR '1'='1`]) await doAll(store, name);
  expect((await store.directory.listMembers(`x' OR '1'='1`)).length).toBe(0);
});
