import { mkdtempSync, rmSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { afterAll, expect, test } from 'vitest';
import { UsageError } from '../../../src/cli/io.js';
import { readSettingsFile } from '../../../src/cli/settings/settings-file.js';

const folder = mkdtempSync(join(tmpdir(), 'caller-stats-settings-'));
afterAll(() => rmSync(folder, { recursive: true }));

const read = (text: string) => {
  const file = join(folder, 'settings.env');
  writeFileSync(file, text);
  return readSettingsFile(file);
};

test('a file that does not exist is named', () => {
  expect(() => readSettingsFile(join(folder, 'none.env'))).toThrow(
    `There is no file ${join(folder, 'none.env')}`,
  );
});

// systemd, shells and this program would read these differently.
test.each([
  'PORT',
  'PORT = 80',
  '1=2',
  'A=b c',
  'A="b"c',
  "A=it's",
  'A=b\\c',
  'A="$HOME"',
  'A=`x`',
  "A='b\\'",
  'export A=b',
])('the line %j is refused by its number, without its value', (line) => {
  expect(() => read(`HOST=::1\n${line}\n`)).toThrow(UsageError);
  expect(() => read(`HOST=::1\n${line}\n`)).toThrow(/line 2 is not NAME=value/);
  expect(() => read(`SECRET=hidden 1\n`)).not.toThrow(/hidden/);
});

test('lines, comments, quotes and the marks of editors are read', () => {
  const text =
    '\uFEFF# a comment\r\n; another\n\nHOST=::1\r\nPORT=\nNAME="Our docs"\nRULE=\'a=$b;"c"\'\n  URL=postgres://a:b%23@c/d#e?f=g\nPORT=80';
  expect(read(text)).toEqual({
    ...{ HOST: '::1', PORT: '80', NAME: 'Our docs' },
    ...{ RULE: 'a=$b;"c"', URL: 'postgres://a:b%23@c/d#e?f=g' },
  });
});
