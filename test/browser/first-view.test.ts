/** How much the browser loads before the overview and its chart are visible. */
import { readdirSync, readFileSync, statSync } from 'node:fs';
import { join } from 'node:path';
import { expect, test } from 'vitest';
import { root } from '../tidy/sources.js';

const assets = join(root, 'dist/dashboard/assets');
const files = readdirSync(assets);

/** The compressed bytes of JavaScript that the first view may load. */
const bytesMax = 100_000;

const fileOf = (chunk: string): string =>
  files.find((file) => file.startsWith(`${chunk}-`) && file.endsWith('.js')) ?? '';

/** A file and all that it imports, without what it loads on demand. */
function reach(file: string, reached = new Set<string>()): Set<string> {
  if (reached.has(file)) return reached;
  reached.add(file);
  const code = readFileSync(join(assets, file), 'utf8');
  for (const [, name = ''] of code.matchAll(/(?:from|import)\s*"\.\/([^"]+\.js)"/g)) reach(name, reached);
  return reached;
}

test('the first view with its chart loads at most 100 KB of JavaScript', () => {
  const loaded = ['index', 'app'].map(fileOf).reduce((all, file) => reach(file, all), new Set<string>());
  expect(loaded.size).toBeGreaterThan(2);
  const bytes = [...loaded].reduce((sum, file) => sum + statSync(join(assets, `${file}.br`)).size, 0);
  expect(bytes, [...loaded].join(' ')).toBeLessThanOrEqual(bytesMax);
});
