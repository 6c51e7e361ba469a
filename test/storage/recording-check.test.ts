/** A check of recording: by the commits of others, or else by one of its own, of which there are few. */
import { expect, test } from 'vitest';
import { RecordingCheck } from '../../src/storage/recording-check.js';

const nowMs = 1_000_000;
const full = new Error('the disk is full');

function checkOn(disk: { isFull: boolean }) {
  let commits = 0;
  const check = new RecordingCheck(async () => {
    commits++;
    if (disk.isFull) throw full;
  });
  return { check, others: check.observe(undefined), commits: () => commits };
}

test('throws why a commit failed, until one succeeds', async () => {
  const disk = { isFull: true };
  const { check, commits } = checkOn(disk);
  for (const at of [0, 1]) await expect(check.run(nowMs + at)).rejects.toBe(full);
  disk.isFull = false;
  await expect(check.run(nowMs + 4_999)).rejects.toBe(full);
  await check.run(nowMs + 5_000);
  expect(commits()).toBe(2);
});

test('commits once in five seconds, however many ask, and at once after a clock was set back', async () => {
  const { check, commits } = checkOn({ isFull: false });
  await Promise.all(Array.from({ length: 20 }, (_, at) => check.run(nowMs + at)));
  await check.run(nowMs + 4_999);
  expect(commits()).toBe(1);
  await check.run(nowMs + 5_000);
  expect(commits()).toBe(2);
  await check.run(nowMs);
  expect(commits()).toBe(3);
});

test('needs no commit where others tell, also of a failure that lies less than five seconds back', async () => {
  const { check, others, commits } = checkOn({ isFull: false });
  await check.run(nowMs);
  others.committed(1, { error: full, hasWritten: false });
  await expect(check.run(nowMs + 1)).rejects.toBe(full);
  others.committed(1, { hasWritten: true });
  await check.run(nowMs + 2);
  others.committed(1, { hasWritten: true });
  await check.run(nowMs + 9_000);
  expect(commits()).toBe(1);
});

test('does not believe commits that write nothing', async () => {
  const disk = { isFull: true };
  const { check, others, commits } = checkOn(disk);
  others.committed(1, { hasWritten: false });
  await expect(check.run(nowMs)).rejects.toBe(full);
  others.committed(1, { hasWritten: false });
  await expect(check.run(nowMs + 1)).rejects.toBe(full);
  expect(commits()).toBe(1);
});
