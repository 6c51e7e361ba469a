/** The reader of compiled time zones. `test/domain/time/zone-data.test.ts` checks all that it reads. */
import { expect, test } from 'vitest';
import { readTzif } from '../../scripts/zones/tzif.js';

/** A file without changes, of a version and with the rule for the future. */
function fileOf(version: string, rule: string): Buffer {
  const header = Buffer.concat([Buffer.from(`TZif${version}`.padEnd(20, '\0')), Buffer.alloc(6 * 4)]);
  // One offset, whose name has four bytes.
  header.writeUInt32BE(1, 36);
  header.writeUInt32BE(4, 40);
  const offset = Buffer.alloc(6);
  offset.writeInt32BE(3600);
  const body = Buffer.concat([offset, Buffer.from('CET\0')]);
  return Buffer.concat([header, body, header, body, Buffer.from(`\n${rule}\n`)]);
}

test('other files, those of version 1 and unknown rules are refused', () => {
  expect(() => readTzif(Buffer.from('#!/bin/sh'.padEnd(100)))).toThrow('is not a file of version 2');
  expect(() => readTzif(fileOf('\0', 'CET-1'))).toThrow('is not a file of version 2');
  expect(() => readTzif(fileOf('2', 'CET-1CEST,J60,J300'))).toThrow('is of an unknown kind');
});

test('the rule for the future may have names in brackets, an offset of its own, and times beyond the day', () => {
  expect(readTzif(fileOf('2', 'CET-1'))).toEqual({ firstOffset: 3600, transitions: [], yearly: [] });
  expect(readTzif(fileOf('2', '<-02>2<-01>,M3.5.0/-1,M10.5.6/24:30')).yearly).toEqual([
    { offset: -3600, month: 3, week: 5, weekday: 0, time: -3600 },
    { offset: -7200, month: 10, week: 5, weekday: 6, time: 88_200 },
  ]);
  expect(readTzif(fileOf('3', '<+1030>-10:30<+11>-11,M10.1.0,M4.1.0')).yearly).toEqual([
    { offset: 39_600, month: 10, week: 1, weekday: 0, time: 7200 },
    { offset: 37_800, month: 4, week: 1, weekday: 0, time: 7200 },
  ]);
});
