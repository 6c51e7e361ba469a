/** The rules of the dashboard: what its code may know, and that nothing secret leaves memory. */
import { describe, expect, test } from 'vitest';
import { filesBelow, importsOf, linesMatching, read, type Source } from './sources.js';

const sources = filesBelow('dashboard/src', '.ts', '.tsx');
const paths = new Set(sources.map(({ path }) => path));

/** Imports name what is built; a file of the dashboard is found by what it is built from. */
const fileOf = (name: string): string =>
  paths.has(name) ? name : paths.has(name.replace(/\.ts$/, '.tsx')) ? name.replace(/\.ts$/, '.tsx') : name;

/** By folder, what a file may import of the dashboard's own. The first that fits is its rule. */
const rules: readonly (readonly [folder: string, allowed: RegExp])[] = [
  ['dashboard/src/time/', /^dashboard\/src\/time\/|\/api\/types\.ts$/],
  ['dashboard/src/format/', /^dashboard\/src\/(format|time|navigation)\/|\/api\/types\.ts$/],
  ['dashboard/src/preferences/', /^dashboard\/src\/preferences\//],
  ['dashboard/src/navigation/', /^dashboard\/src\/(navigation|preferences|time|api)\//],
  ['dashboard/src/api/', /^dashboard\/src\/(api|format|time|navigation)\//],
  ['dashboard/src/chart/', /^dashboard\/src\/(chart|format|time)\/|\/api\/types\.ts$/],
  ['dashboard/src/components/', /^dashboard\/src\/(components|format|time|navigation|preferences|api)\//],
  ['dashboard/src/layout/', /^dashboard\/src\/(?!main\.tsx|app\.tsx)/],
  ['dashboard/src/', /^dashboard\/src\/(?!main\.tsx)/],
];

/** The rules of the server that the dashboard applies, too. Any of the server's types may be imported. */
const shared = ['src/domain/limits.ts', 'src/domain/people/member.ts', 'src/domain/queries/caller.ts'];

const packages = /^(react|react-dom(\/client)?|@tanstack\/react-query|wouter|lucide-react|d3-array|qr)$/;

const isShared = (name: string): boolean => packages.test(name) || shared.includes(name);

/** What the bundle contains, so without types. */
const codeImportsOf = (source: Source): string[] =>
  importsOf({ ...source, text: source.text.replaceAll(/^(import|export) type [^;]*;/gm, '') });

describe('what the dashboard imports', () => {
  test.each(sources.map((source) => [source.path, source] as const))('%s', (path, source) => {
    const allowed = rules.find(([folder]) => path.startsWith(folder))?.[1];
    expect(codeImportsOf(source).filter((name) => !isShared(name) && !allowed?.test(name))).toEqual([]);
  });

  test.each(shared)('of the server is pure: %s', (path) => {
    const reached = new Set<string>();
    const visit = (next: string): void => {
      if (reached.has(next)) return;
      reached.add(next);
      if (next.startsWith('src/')) for (const one of codeImportsOf(read(next))) visit(one);
    };
    visit(path);
    expect([...reached].filter((name) => !name.startsWith('src/domain/'))).toEqual([]);
  });

  test('reaches every file from main.tsx', () => {
    const reached = new Set<string>();
    const visit = (path: string): void => {
      const source = sources.find((one) => one.path === path);
      if (source === undefined || reached.has(path)) return;
      reached.add(path);
      for (const next of importsOf(source)) visit(fileOf(next));
    };
    visit('dashboard/src/main.tsx');
    expect([...paths].filter((path) => !reached.has(path))).toEqual([]);
  });
});

describe('there is one place for', () => {
  const outside = (...places: string[]) => sources.filter(({ path }) => !places.includes(path));

  test('the clock', () => {
    expect(linesMatching(outside('dashboard/src/time/clock.ts'), /Date\.now\(|new Date\(\)/)).toEqual([]);
  });

  test('what is kept in the browser', () => {
    const places = ['dashboard/src/preferences/local-storage.ts', 'dashboard/src/layout/page-boundary.tsx'];
    expect(
      linesMatching(outside(...places), /localStorage|sessionStorage|indexedDB|document\.cookie/),
    ).toEqual([]);
  });

  test('requests (and an example of one, for people to copy)', () => {
    expect(
      linesMatching(
        outside('dashboard/src/api/client.ts', 'dashboard/src/format/snippets.ts'),
        /\bfetch\(|XMLHttpRequest|sendBeacon/,
      ),
    ).toEqual([]);
  });
});

test('nothing is inline that the Content-Security-Policy forbids', () => {
  const page = read('dashboard/index.html');
  expect(linesMatching([page], /<style|\sstyle=|<script(?![^>]*\bsrc=)|\son\w+=/)).toEqual([]);
  expect(linesMatching(sources, /dangerouslySetInnerHTML|innerHTML|createElement\('style'\)/)).toEqual([]);
});
