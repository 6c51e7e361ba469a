/** Where links of the pages lead in the site: in the repository pages lie in several folders, in the site in one. */
import { basename, dirname, join, relative } from 'node:path/posix';
import { ENGINEERING, REWRITES } from './pages.js';

/** Files of the repository that pages link to, relative to the root: the site has copies of them in `files`. */
export const downloads = new Set<string>();

/** The link of a page (a file of the root) as it is in the site, whose base VitePress puts before it. */
export function siteLink(href: string, page: string): string {
  const [, path = '', fragment = ''] = /^([^#]*)(#.*)?$/.exec(href) ?? [];
  if (path === '' || /^([a-z]+:|\/)/.test(path)) return href;
  const target = join(dirname(page), path);
  const known = REWRITES[target];
  if (known !== undefined) return `./${known}${fragment}`;
  // What is neither a page of the site nor a file for it stays as it is, and the build fails for it.
  const isPage = target.endsWith('.md') && !target.startsWith(`${ENGINEERING}/`);
  if (isPage || relative('docs', target).startsWith('images')) return href;
  downloads.add(target);
  return `/files/${downloadName(target)}`;
}

/** VitePress takes links to Markdown for pages. */
export function downloadName(file: string): string {
  return basename(file).replace(/\.md$/, '.txt');
}
