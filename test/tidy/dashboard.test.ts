/** The rules of the dashboard's code: imports, one place for each concern, no inline scripts. */
import { describe, expect, test } from 'vitest';
import { sourceOf } from '../../docs/.vitepress/pages.js';
import { filesBelow, findReachable, importsOf, linesMatching, read, type Source } from './sources.js';

const sources = filesBelow('dashboard/src', '.ts', '.tsx');
const paths = new Set(sources.map(({ path }) => path));

/** The source file of an import, which may be a `.tsx` file. */
const findSource = (name: string): string =>
  paths.has(name) ? name : paths.has(name.replace(/\.ts$/, '.tsx')) ? name.replace(/\.ts$/, '.tsx') : name;

/** What files below a folder may import from the dashboard. The first matching rule applies. */
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

/** Rules of the server that the dashboard imports. It may also import any type of the server. */
const shared = [
  'src/domain/counting/change.ts',
  'src/domain/counting/csv.ts',
  'src/domain/limits.ts',
  'src/domain/notifications/channel.ts',
  'src/domain/notifications/notification.ts',
  'src/domain/own-path.ts',
  'src/domain/people/audit.ts',
  'src/domain/people/member.ts',
  'src/domain/projects/samples.ts',
  'src/domain/queries/caller.ts',
  'src/domain/queries/telemetry-defaults.ts',
  'src/domain/random-text.ts',
  'src/domain/time/duration.ts',
];

const packages = /^(react|react-dom(\/client)?|@tanstack\/react-query|wouter|lucide-react|d3-array|qr)$/;

const isShared = (name: string): boolean => packages.test(name) || shared.includes(name);

/** The imports of the bundle, without types. */
const findCodeImports = (source: Source): string[] =>
  importsOf({ ...source, text: source.text.replaceAll(/^(import|export) type [^;]*;/gm, '') });

describe('imports of the dashboard', () => {
  test.each(sources.map((source) => [source.path, source] as const))(
    'follow the rules in %s',
    (path, source) => {
      const allowed = rules.find(([folder]) => path.startsWith(folder))?.[1];
      expect(findCodeImports(source).filter((name) => !isShared(name) && !allowed?.test(name))).toEqual([]);
    },
  );

  test.each(shared)('from the server are pure: %s', (path) => {
    const reached = findReachable([path], (next) =>
      next.startsWith('src/') ? findCodeImports(read(next)) : [],
    );
    expect([...reached].filter((name) => !name.startsWith('src/domain/'))).toEqual([]);
  });

  test('reach every file from main.ts', () => {
    const reached = findReachable(['dashboard/src/main.ts'], (path) =>
      sources
        .filter((source) => source.path === path)
        .flatMap(importsOf)
        .map(findSource),
    );
    expect([...paths].filter((path) => !reached.has(path))).toEqual([]);
  });
});

describe('the dashboard has one place for', () => {
  const outside = (...places: string[]) => sources.filter(({ path }) => !places.includes(path));

  test('the clock', () => {
    expect(linesMatching(outside('dashboard/src/time/clock.ts'), /Date\.now\(|new Date\(\)/)).toEqual([]);
  });

  test('storage in the browser', () => {
    const places = ['dashboard/src/preferences/local-storage.ts', 'dashboard/src/navigation/lazy-code.ts'];
    expect(
      linesMatching(outside(...places), /localStorage|sessionStorage|indexedDB|document\.cookie/),
    ).toEqual([]);
  });

  test('requests, those before the app has loaded, and those of the page to try the API', () => {
    const places = [
      'dashboard/src/api/client.ts',
      'dashboard/src/api/early.ts',
      'dashboard/src/pages/try/operation-form.tsx',
    ];
    expect(linesMatching(outside(...places), /\bfetch\(|XMLHttpRequest|sendBeacon/)).toEqual([]);
  });
});

test('the dashboard has no inline script or style, which its Content-Security-Policy forbids', () => {
  const page = read('dashboard/index.html');
  expect(linesMatching([page], /<style|\sstyle=|<script(?![^>]*\bsrc=)|\son\w+=/)).toEqual([]);
  expect(linesMatching(sources, /dangerouslySetInnerHTML|innerHTML|createElement\('style'\)/)).toEqual([]);
});

test('links to the documentation lead to pages and headings that exist', () => {
  const links = sources.flatMap(({ text }) =>
    [...text.matchAll(/(?:<DocsLink page="|docsUrl\(')([^"']+)/g)].map(([, link = '']) => link),
  );
  expect(links).toContain('projects#retention');
  const isMissing = (link: string): boolean => {
    // A page of the dashboard.
    if (link === 'try') return false;
    const [page = '', heading] = link.split('#');
    const headings = read(sourceOf(page)).text.matchAll(/^#+ (.*)$/gm);
    const slugs = [...headings].map(([, title = '']) => title.toLowerCase().replaceAll(/[^\w]+/g, '-'));
    return heading !== undefined && !slugs.includes(heading);
  };
  expect(links.filter(isMissing)).toEqual([]);
});
