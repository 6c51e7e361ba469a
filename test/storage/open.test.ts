import { existsSync, linkSync, symlinkSync, writeFileSync } from 'node:fs';
import { relative, resolve } from 'node:path';
import type { ClientConfig } from 'pg';
import { expect, test } from 'vitest';
import {
  isSameStore,
  locationOf,
  migrateStore,
  nameOfStore,
  openStore,
  parseDatabaseUrl,
} from '../../src/storage/open.js';
import { temporaryFolder } from '../support/temporary.js';
import { words } from '../support/words.js';

test.each([
  ['', /is not a database URL/],
  ['./data.db', /is not a database URL/],
  ['./sqlite:data.db', /is not a database URL; write it as sqlite:.* or postgres:/],
  ['sqlite:', /names no file/],
  ['sqlite://', /names no file/],
  ['sqlite://host/file.db', /has a host/],
  ['sqlite::memory:', /is in memory/],
  ['mysql://localhost/x', /scheme mysql:, which there is no store for/],
  ['postgres://u:a b/c@host:99999/x', /^is not a URL/],
  ['postgres://host/x?schema=Upper', /has a schema that is not/],
  ['postgres://host/x?schema=a;b', /has a schema that is not/],
  ['postgres://host/x?schema=pg_mine', /has a schema that is not/],
  ['postgres://host/x?schema=', /has a schema that is not/],
  ['postgres://host/x?sslmode=sometimes', /has an sslmode that is not one of disable, prefer/],
  ['postgres://host/x?sslmode=verify-ca', /sslmode=verify-ca without sslrootcert/],
  ['postgres://host/x?sslrootcert=/none/such', /a file that cannot be read: \/none\/such \(ENOENT\)/],
  ['postgres://u:5/hunter2@host/x', /^cannot be read as postgres:.+ written as %40/],
  ['postgres://u:#hunter2@host/x', /^cannot be read as .+ written as %40/],
  ['postgres://u:?hunter2@host/x', /^cannot be read as .+ written as %40/],
  ['postgres://u:50%x@host/x', /^cannot be read as .+ written as %40/],
  ['postgres://host/x?sslmod=verify-full', /a parameter that is nearly, but not quite, called sslmode$/],
  ['postgres://host/x?SSLMODE=verify-full', /nearly, but not quite, called sslmode$/],
  ['postgres://host/x?sslrotcert=/ca', /nearly, but not quite, called sslrootcert$/],
  ['postgres://host/x?sslmode=require&sslmode=disable', /has the parameter sslmode twice$/],
  ['sqlite:a\0b', /names no file/],
])('rejects the database URL %j', async (url, problem) => {
  expect(parseDatabaseUrl(url)).toEqual({ ok: false, problems: [expect.stringMatching(problem)] });
  await expect(openStore(url)).rejects.toMatchObject({ code: 'invalid' });
});

test.each([
  ['sqlite:./data/x.db', './data/x.db'],
  ['sqlite:x.db', 'x.db'],
  ['sqlite:/var/lib/x.db', '/var/lib/x.db'],
  ['sqlite:///var/lib/x.db', '/var/lib/x.db'],
  ['sqlite:x:memory:', 'x:memory:'],
  ['sqlite:a\nb', 'a\nb'],
  ['SQLITE:a b?#%20.db', 'a b?#%20.db'],
])('the database URL %j is the file %s', (url, file) => {
  expect(parseDatabaseUrl(url)).toEqual({ ok: true, value: { kind: 'sqlite', file } });
});

test.each([
  ['postgres://localhost/x', { host: 'localhost', database: 'x' }],
  [
    'postgresql://u:p%40ss@db.example:6432/x?sslmode=disable',
    { host: 'db.example', port: 6432, user: 'u', password: 'p@ss', ssl: false },
  ],
  ['POSTGRES://h/x?sslmode=require', { ssl: { rejectUnauthorized: false } }],
  ['postgres://h/x?sslmode=verify-full', { ssl: {} }],
  ['postgres:///x?host=/var/run/postgresql', { host: '/var/run/postgresql', database: 'x' }],
  ['postgres://h/x?application_name=counts', { application_name: 'counts' }],
  ['postgres://u:p%3Aw@h/x?options=-c a=b', { password: 'p:w', options: '-c a=b' }],
  ['postgres://u:p%40w@/x?host=/tmp', { user: 'u', password: 'p@w', host: '/tmp', database: 'x' }],
  ['postgres://u@@h/x', { user: 'u@', host: 'h' }],
  // Of other clients; passed over, as the driver does.
  ['postgres://h/x?channel_binding=prefer&sslcrl=/x&target_session_attrs=any', { host: 'h' }],
])('the database URL %j is a PostgreSQL database', (url, expected) => {
  const { host, port, ...config } = expected as ClientConfig;
  expect(parseDatabaseUrl(url)).toMatchObject({
    ok: true,
    value: { kind: 'postgres', schema: 'caller_stats', config, ...(host && { hosts: [{ host, port }] }) },
  });
});

test("removes the schema from the driver's configuration and the password from the name", () => {
  const location = parseDatabaseUrl('postgres://u:hunter2@h:1/x?schema=counts');
  expect(location).toMatchObject({ value: { schema: 'counts', name: 'h:1/x, schema counts' } });
  expect(location).not.toHaveProperty('value.config.schema');
});

test.each(
  words(`
  postgres://u:hunter2@h:x/db postgers://u:hunter2@h/db postgres://u:hunter2@h/db?sslmode=x
  postgres://u:5/hunter2@h/db postgres://u:#hunter2@h/db postgres://u:?hunter2@h/db
  postgres://u:hunter2%@h/db
`),
)('describes the problem of %j without its password', async (url) => {
  await expect(openStore(url)).rejects.toSatisfy((error) => !String(error).includes('hunter2'));
});

test('does not create a file that must exist', async () => {
  const file = `${await temporaryFolder()}/none.db`;
  await expect(openStore(`sqlite:${file}`, { mustExist: true })).rejects.toMatchObject({
    code: 'not_found',
    message: expect.stringContaining(file),
  });
  expect(existsSync(file)).toBe(false);
});

test('refuses to distribute a file and does not create it', async () => {
  const file = `${await temporaryFolder()}/none.db`;
  await expect(migrateStore(`sqlite:${file}`, { distribute: true })).rejects.toMatchObject({
    code: 'invalid',
  });
  expect(existsSync(file)).toBe(false);
});

test('names a store by its absolute path or address', () => {
  expect(nameOfStore(locationOf('sqlite:data/x.db'))).toBe(resolve('data/x.db'));
  expect(nameOfStore(locationOf('postgres://u:hunter2@h:1/x'))).toBe('h:1/x, schema caller_stats');
});

test('recognizes a file by any path or link', async () => {
  const folder = await temporaryFolder();
  const [file, other] = [`${folder}/a.db`, `${folder}/b.db`];
  const isSame = (one: string, two: string) => isSameStore(`sqlite:${one}`, `sqlite:${two}`);
  const near = relative('.', file);
  expect(await isSame(file, near)).toBe(true);
  expect(await isSame(file, other)).toBe(false);
  writeFileSync(file, '');
  expect(await isSame(file, near)).toBe(true);
  expect(await isSame(file, other)).toBe(false);
  expect(await isSame(other, file)).toBe(false);
  writeFileSync(other, '');
  expect(await isSame(file, other)).toBe(false);
  linkSync(file, `${folder}/hard`);
  symlinkSync(file, `${folder}/soft`);
  for (const link of ['hard', 'soft']) {
    expect(await isSame(file, `${folder}/${link}`)).toBe(true);
    expect(await isSame(`${folder}/${link}`, other)).toBe(false);
  }
  // Of another file system, where there is one.
  expect(await isSame(file, '/proc/self/status')).toBe(false);
});

test.each([
  ['postgres://h/x', 'postgres://u:p@H:5432/x', true],
  ['postgres://h/x', 'postgres://h/y', false],
  ['postgres://h/x', 'postgres://i/x', false],
  ['postgres://h/x', 'postgres://h:1/x', false],
  ['postgres://h/x?schema=a', 'postgres://h/x?schema=a', true],
  ['postgres://h/x?schema=a', 'postgres://h/x?schema=b', false],
  ['postgres://g,h/x', 'postgres://h:5432,i/x', true],
  ['postgres://g,h/x', 'postgres://h:1,i/x', false],
  ['postgres://h/x', 'sqlite:x', false],
  ['sqlite:x', 'postgres://h/x', false],
])('%s and %s are the same store: %s', async (one, other, same) => {
  expect(await isSameStore(one, other)).toBe(same);
});
