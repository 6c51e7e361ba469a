import {
  existsSync,
  linkSync,
  mkdirSync,
  readFileSync,
  renameSync,
  rmSync,
  statSync,
  symlinkSync,
  writeFileSync,
} from 'node:fs';
import { expect, test } from 'vitest';
import { makePrivately, OpenedFile, sizeOf } from '../../../../src/storage/sqlite/files/opened-file.js';
import { whenOver } from '../../../support/cleanup.js';
import { temporaryFolder } from '../../../support/temporary.js';

const modeOf = (path: string) => statSync(path).mode & 0o777;

test('a file that cannot be created is unavailable, with its reason', async () => {
  const folder = await temporaryFolder();
  writeFileSync(`${folder}/letter`, '');
  await expect(makePrivately(`${folder}/letter/data/store.db`)).rejects.toMatchObject({
    code: 'unavailable',
    message: expect.stringMatching(/letter\/data\/store\.db cannot be made\.$/),
    cause: { code: 'ENOTDIR' },
  });
});

test('an empty file is created for its owner, in an existing folder', async () => {
  const folder = `${await temporaryFolder()}/data`;
  mkdirSync(folder, { mode: 0o755 });
  await makePrivately(`${folder}/store.db`);
  expect([statSync(`${folder}/store.db`).size, modeOf(`${folder}/store.db`)]).toEqual([0, 0o600]);
  expect(modeOf(folder)).toBe(0o755);
});

test('missing folders are created too, for their owner', async () => {
  const folder = await temporaryFolder();
  await makePrivately(`${folder}/some/where/store.db`);
  expect(['some', 'some/where', 'some/where/store.db'].map((name) => modeOf(`${folder}/${name}`))).toEqual([
    0o700, 0o700, 0o600,
  ]);
});

test('the file that a link names and that is not there is created for its owner, too', async () => {
  const folder = await temporaryFolder();
  mkdirSync(`${folder}/elsewhere`);
  symlinkSync('elsewhere/store.db', `${folder}/store.db`);
  await makePrivately(`${folder}/store.db`);
  expect(modeOf(`${folder}/elsewhere/store.db`)).toBe(0o600);
});

test('an existing file is unchanged', async () => {
  const file = `${await temporaryFolder()}/store.db`;
  writeFileSync(file, 'as it was', { mode: 0o640 });
  await makePrivately(file);
  expect([readFileSync(file, 'utf8'), modeOf(file)]).toEqual(['as it was', 0o640]);
});

test('the size is that of the file and its log, and undefined without the file', async () => {
  const file = `${await temporaryFolder()}/store.db`;
  expect(await sizeOf(file)).toBeUndefined();
  writeFileSync(`${file}-wal`, 'log');
  expect(await sizeOf(file)).toBeUndefined();
  writeFileSync(file, 'database');
  expect(await sizeOf(file)).toBe('database'.length + 'log'.length);
});

test('with a log alone, no file is created and the log is unchanged', async () => {
  const file = `${await temporaryFolder()}/store.db`;
  writeFileSync(`${file}-wal`, 'log');
  await expect(makePrivately(file)).rejects.toMatchObject({
    code: 'unavailable',
    message: expect.stringMatching(
      /store\.db is gone, but its log .+store\.db-wal is there; .*restore a backup/,
    ),
  });
  expect([existsSync(file), readFileSync(`${file}-wal`, 'utf8')]).toEqual([false, 'log']);
  writeFileSync(`${file}-wal`, '');
  await makePrivately(file);
  expect(existsSync(file)).toBe(true);
});

test('an open file is valid until it is deleted or replaced', async () => {
  const file = `${await temporaryFolder()}/store.db`;
  writeFileSync(file, 'first');
  const opened = new OpenedFile(file);
  whenOver(() => opened.close());
  const gone = expect.objectContaining({
    code: 'unavailable',
    message: expect.stringMatching(/was deleted or replaced/),
  });
  expect(opened.name).toBe(file);
  writeFileSync(file, 'first, written again');
  opened.requireThere();
  renameSync(file, `${file}.away`);
  expect(() => opened.requireThere()).toThrow(gone);
  writeFileSync(file, 'another');
  expect(() => opened.requireThere()).toThrow(gone);
  rmSync(file);
  linkSync(`${file}.away`, file);
  opened.requireThere();
});

test('a deleted file is noticed within about a second', async () => {
  const file = `${await temporaryFolder()}/store.db`;
  writeFileSync(file, 'first');
  const opened = new OpenedFile(file);
  whenOver(() => opened.close());
  const seen = () => {
    try {
      opened.requireThereLately();
      return true;
    } catch {
      return false;
    }
  };
  expect(seen()).toBe(true);
  renameSync(file, `${file}.away`);
  await expect.poll(seen, { timeout: 10_000 }).toBe(false);
  renameSync(`${file}.away`, file);
  await expect.poll(seen, { timeout: 10_000 }).toBe(true);
});

test('a closed file is not checked any more', async () => {
  const looks = () => process.getActiveResourcesInfo().filter((one) => one === 'StatWatcher').length;
  const file = `${await temporaryFolder()}/store.db`;
  writeFileSync(file, 'first');
  const before = looks();
  const opened = new OpenedFile(file);
  expect(looks()).toBe(before + 1);
  opened.close();
  expect(looks()).toBe(before);
});
