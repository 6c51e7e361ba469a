/** Where the pages of the site are in the repository: in `docs` and its folders, and a few elsewhere. */
import { readdirSync } from 'node:fs';
import { basename, join, relative } from 'node:path';
import { fileURLToPath } from 'node:url';
import { GROUPS, PAGES } from './page-list.js';

const root = fileURLToPath(new URL('../..', import.meta.url));

/** Pages of other folders, and their files in the site. */
export const FOREIGN: Readonly<Record<string, string>> = {
  'bench/README.md': 'benchmarks.md',
  'bench/results.md': 'figures.md',
  'SECURITY.md': 'security.md',
  'CHANGELOG.md': 'changelog.md',
};

/** Pages for those who work on the project, which are files of the site and no pages of it. */
export const ENGINEERING = 'docs/engineering';

/** The file of each page in the site, by its file in the repository. The site has all pages in one folder. */
export const REWRITES: Readonly<Record<string, string>> = {
  ...Object.fromEntries(
    readdirSync(join(root, 'docs'), { recursive: true, withFileTypes: true })
      .filter(({ name, parentPath }) => name.endsWith('.md') && !/\.vitepress|engineering/.test(parentPath))
      .map(({ name, parentPath }) => [relative(root, join(parentPath, name)), name]),
  ),
  ...FOREIGN,
};

/** The file of each page in the repository, relative to the root. */
const sources = new Map(Object.entries(REWRITES).map(([source, page]) => [basename(page, '.md'), source]));

/** Where a page is written. */
export function sourceOf(page: string): string {
  const source = sources.get(page);
  if (source === undefined) throw new Error(`There is no page ${page}.`);
  return source;
}

/** The pages that exist, in their order. */
export function existingPages(): { name: string; title: string; description: string; source: string }[] {
  return [...PAGES]
    .filter(([name]) => sources.has(name))
    .map(([name, { title, description }]) => ({ name, title, description, source: sourceOf(name) }));
}

/** The address of a page below the site's base. */
export function linkOf(page: string): string {
  return page === 'index' ? '/' : `/${page}`;
}

/** The groups with their existing pages. */
export function sidebar(): { text: string; items: { text: string; link: string }[] }[] {
  return GROUPS.map(({ text, pages }) => ({
    text,
    items: Object.entries(pages)
      .filter(([page]) => sources.has(page))
      .map(([page, { title }]) => ({ text: title, link: linkOf(page) })),
  }));
}
