/** Builds the documentation's site into `dist/docs`. The server serves it at `/docs`, with a strict policy. */
import { copyFileSync, mkdirSync, readdirSync } from 'node:fs';
import { basename, join, relative } from 'node:path';
import { fileURLToPath } from 'node:url';
import { defineConfig } from 'vitepress';
import { precompress } from '../../scripts/precompress.js';
import { downloads, siteLink } from './links.js';
import { FOREIGN, sidebar } from './pages.js';
import { codeColours, strictPage, writeStrictFiles } from './strict.js';

const root = fileURLToPath(new URL('../..', import.meta.url));
const base = '/docs/';

/** What lies beside `docs` and has no page of the site in it, as patterns. */
function foreignNames(): string[] {
  const pages = Object.keys(FOREIGN);
  return readdirSync(root, { withFileTypes: true })
    .filter(({ name }) => name !== 'docs' && !pages.some((one) => one === name || one.startsWith(`${name}/`)))
    .map((entry) => (entry.isDirectory() ? `${entry.name}/**` : entry.name));
}

export default defineConfig({
  title: 'caller-stats',
  description:
    'Counts the questions people ask the assistant of a documentation site, exactly, by who sent them.',
  lang: 'en-GB',
  base,
  cleanUrls: true,
  // Copies of files of the repository, which are there when all is built; a test looks for them.
  ignoreDeadLinks: [/^\/files\//],
  head: [['link', { rel: 'icon', href: '../favicon.svg' }]],
  // What would turn transitions off for a change of colours is a style within the page.
  appearance: { disableTransition: false },
  // The root, because some pages of other folders are in the site, too.
  srcDir: '..',
  srcExclude: [...foreignNames(), 'docs/.vitepress/**'],
  rewrites: { 'docs/:page.md': ':page.md', ...FOREIGN },
  outDir: '../dist/docs',
  cacheDir: '../node_modules/.cache/vitepress',
  markdown: {
    codeTransformers: [codeColours],
    config(md) {
      md.core.ruler.push('site-links', ({ tokens, env }) => {
        // Of a page that is indexed for the search, VitePress tells the one, else both.
        const { path, realPath = path } = env as { path: string; realPath?: string };
        const page = relative(root, realPath);
        for (const token of tokens.flatMap(({ children }) => children ?? [])) {
          if (token.type !== 'link_open') continue;
          token.attrSet('href', siteLink(token.attrGet('href') ?? '', page));
        }
      });
    },
  },
  themeConfig: {
    search: { provider: 'local' },
    sidebar: sidebar(),
    nav: [
      { text: 'Dashboard', link: '/../', target: '_self' },
      { text: 'Try the API', link: '/try', target: '_self' },
    ],
    outline: [2, 3],
    docFooter: { prev: false, next: false },
  },
  transformHtml: (html) => strictPage(html, base),
  buildEnd({ outDir }) {
    writeStrictFiles(outDir);
    mkdirSync(join(outDir, 'files'), { recursive: true });
    for (const file of downloads) copyFileSync(join(root, file), join(outDir, 'files', basename(file)));
    precompress(outDir);
  },
});
