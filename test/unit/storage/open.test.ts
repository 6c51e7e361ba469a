import { expect, test } from 'vitest';
import { openStore, parseDatabaseUrl } from '../../../src/storage/open.js';

test.each([
  ['', /is not a database URL/],
  ['./data.db', /is not a database URL/],
  ['sqlite:', /names no file/],
  ['sqlite://', /names no file/],
  ['sqlite://host/file.db', /has a host/],
  ['sqlite::memory:', /is in memory/],
  ['postgres://localhost/x', /scheme postgres:, which this version has no store for/],
  ['sqlite:a\0b', /names no file/],
])('the database URL %j is refused', async (url, problem) => {
  expect(parseDatabaseUrl(url)).toEqual({ ok: false, problems: [expect.stringMatching(problem)] });
  await expect(openStore(url)).rejects.toMatchObject({ code: 'invalid' });
});

test.each([
  ['sqlite:./data/x.db', './data/x.db'],
  ['sqlite:x.db', 'x.db'],
  ['sqlite:/var/lib/x.db', '/var/lib/x.db'],
  ['sqlite:///var/lib/x.db', '/var/lib/x.db'],
  ['SQLITE:a b?#%20.db', 'a b?#%20.db'],
])('the database URL %j is the file %s', (url, file) => {
  expect(parseDatabaseUrl(url)).toEqual({ ok: true, value: { kind: 'sqlite', file } });
});
