/** The files of `dist` that commands load, which decide how long they take to start. */
import { readdirSync, readFileSync } from 'node:fs';
import { join } from 'node:path';
import { expect, test } from 'vitest';
import { root } from '../../tidy/sources.js';

const texts = new Map(
  readdirSync(join(root, 'dist'))
    .filter((name) => name.endsWith('.js'))
    .map((name) => [name, readFileSync(join(root, 'dist', name), 'utf8')] as const),
);

/** The built file of this name, which contains a hash. */
function fileOf(name: string): string {
  const files = [...texts.keys()].filter((file) => new RegExp(`^${name}-.{8}\\.js$`).test(file));
  expect(files, name).toHaveLength(1);
  return files[0] ?? '';
}

/** What a file loads, `"./…"` after the word before it. */
const STATIC = /^(?:import|export) (?:.* from )?"\.\/([^"]+)"/gm;
const DYNAMIC = /\bimport\("\.\/([^"]+)"\)/g;

/** These files and all that they load. */
function loadedBy(files: readonly string[], ...patterns: readonly RegExp[]): string[] {
  const found = new Set(files);
  for (const file of found)
    for (const pattern of patterns)
      for (const [, one = ''] of (texts.get(file) ?? '').matchAll(pattern)) found.add(one);
  return [...found];
}

test('no file imports node:http, which would load the code of fetch', () => {
  const importing = [...texts].filter(([, text]) => /^import .*"(node:)?http"/m.test(text));
  expect(importing.map(([name]) => name)).toEqual([]);
});

test('a server starts from few files', () => {
  const files = loadedBy(['main.js', fileOf('start')], STATIC);
  expect(files).toContain(fileOf('shared'));
  expect(files.length).toBeLessThan(10);
});

test('the thread of the database starts before the app loads', () => {
  expect(loadedBy([fileOf('serve')], STATIC)).not.toContain(fileOf('start'));
});

test('other commands load nothing that only a server needs', () => {
  const commands = [...(texts.get(fileOf('program')) ?? '').matchAll(DYNAMIC)].map(([, file = '']) => file);
  const others = commands.filter((file) => !file.startsWith('serve-'));
  expect(others.length).toBe(commands.length - 1);
  expect(loadedBy(others, STATIC, DYNAMIC)).not.toContain(fileOf('start'));
});
