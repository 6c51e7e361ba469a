/** Style rules that the linter does not check. */
import { existsSync } from 'node:fs';
import { join } from 'node:path';
import { expect, test } from 'vitest';
import { filesBelow, linesMatching, read, root } from './sources.js';

const code = ['src', 'test', 'bench', 'scripts', 'dashboard', 'clients/javascript/src']
  .filter((folder) => existsSync(join(root, folder)))
  .flatMap((folder) => filesBelow(folder, '.ts', '.tsx'));
const prose = [
  ...filesBelow('docs', '.md'),
  ...[
    'README.md',
    'SECURITY.md',
    'ARCHITECTURE.md',
    'CONTRIBUTING.md',
    'CHANGELOG.md',
    'clients/javascript/README.md',
  ].map(read),
];
const self = 'test/tidy/style.test.ts';
const others = code.filter(({ path }) => path !== self);

test('every source file has a comment that explains it', () => {
  const sources = [
    ...filesBelow('src', '.ts'),
    ...filesBelow('dashboard', '.ts', '.tsx'),
    ...filesBelow('clients/javascript/src', '.ts'),
  ];
  const uncommented = sources.filter(({ text }) => !text.includes('/**'));
  expect(uncommented.map(({ path }) => path)).toEqual([]);
});

test('no file has TODOs, disabled checks or skipped tests', () => {
  expect(linesMatching([...others, ...prose], /\b(TODO|FIXME|XXX|HACK)\b/)).toEqual([]);
  expect(linesMatching(others, /@ts-(ignore|expect-error|nocheck)|biome-(ignore)|eslint-disable/)).toEqual(
    [],
  );
  expect(linesMatching(others, /\b(test|it|describe)\.(only|skip|todo|fails)\b|\bx(it|describe)\(/)).toEqual(
    [],
  );
});

test('tests do not sleep', () => {
  const tests = others.filter(({ path }) => path.startsWith('test/'));
  expect(linesMatching(tests, /setTimeout\(|sleep\(/)).toEqual([]);
});

test('the repository contains no local path, registry URL or API key', () => {
  const everything = [
    ...others,
    ...prose,
    ...['package.json', 'package-lock.json', 'vitest.config.ts', '.ci/run'].map(read),
  ];
  expect(
    linesMatching(everything, /\/(home|root|Users|work)\/\w|registry\.npmjs|"resolved": "(?!clients\/)/),
  ).toEqual([]);
  expect(linesMatching(prose, /\bcs_(admin|recording|reading)_[0-9A-Za-z]{49}\b/)).toEqual([]);
});
