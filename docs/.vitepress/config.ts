/** Builds the documentation's site into `dist/docs`. The server serves it at `/docs`, with a strict policy. */
import { execFileSync } from 'node:child_process';
import { copyFileSync, mkdirSync, readdirSync, readFileSync } from 'node:fs';
import { basename, dirname, join, relative } from 'node:path';
import { fileURLToPath } from 'node:url';
import { defineConfig, type HeadConfig } from 'vitepress';
import { precompress } from '../../scripts/precompress.js';
import { downloadName, downloads, siteLink } from './links.js';
import { nameButtons, reserveImages } from './markup.js';
import { PAGES } from './page-list.js';
import { ENGINEERING, FOREIGN, linkOf, REWRITES, sidebar } from './pages.js';
import { pictureOf, size, writePictures } from './pictures.js';
import { toIndexed } from './search.js';
import { codeColours, strictPage, writeStrictFiles } from './strict.js';
import { fitTables } from './tables.js';
import { writeTexts } from './texts.js';

const root = fileURLToPath(new URL('../..', import.meta.url));
const base = '/docs/';
/** The server's default address. A server with a public URL puts that in its place. */
const site = `http://127.0.0.1:4000${base}`;
const summary = 'Counts the questions people ask your AI assistant, exactly, by where they came from.';
const { version } = JSON.parse(readFileSync(join(root, 'package.json'), 'utf8')) as { version: string };

/** What lies beside `docs` and has no page of the site in it, as patterns. */
function foreignNames(): string[] {
  const pages = Object.keys(FOREIGN);
  return readdirSync(root, { withFileTypes: true })
    .filter(({ name }) => name !== 'docs' && !pages.some((one) => one === name || one.startsWith(`${name}/`)))
    .map((entry) => (entry.isDirectory() ? `${entry.name}/**` : entry.name));
}

/** What git prints, without the last line break; undefined where there is no git or no repository, as in an image. */
function askGit(...args: string[]): string | undefined {
  try {
    return execFileSync('git', args, {
      cwd: root,
      encoding: 'utf8',
      stdio: ['ignore', 'pipe', 'ignore'],
    }).trim();
  } catch {
    return undefined;
  }
}

/** The address of this repository on its host, without credentials; undefined for a clone of a folder. */
function repositoryUrl(): string | undefined {
  const remote = askGit('remote', 'get-url', 'origin') ?? '';
  const [, host, path] =
    /^(?:https:\/\/|git@)(?:[^@/]*@)?([\w.-]+\.\w+)[/:](.+?)(?:\.git)?$/.exec(remote) ?? [];
  return host === undefined ? undefined : `https://${host}/${path}`;
}

/** Releases whose docs the menu links to. */
const releasesMax = 5;

/** The newest released versions, each with the address of its docs on the host of the repository. */
function releases(repository: string | undefined): { text: string; link: string }[] {
  if (repository === undefined) return [];
  const tags = (askGit('tag', '--list', 'v*', '--sort=-version:refname') ?? '').split('\n').filter(Boolean);
  return tags
    .slice(0, releasesMax)
    .map((tag) => ({ text: `Docs of ${tag.slice(1)}`, link: `${repository}/tree/${tag}/docs` }));
}

/** The page of a file of the site. */
const pageOf = (file: string): string => basename(file, '.md');

/** What previews of links and programs read. */
function previewOf(file: string, title: string, description: string): HeadConfig[] {
  const property = (name: string, content: string): HeadConfig => [
    'meta',
    { property: `og:${name}`, content },
  ];
  const page = pageOf(file);
  return [
    property('type', 'website'),
    property('site_name', 'caller-stats'),
    property('title', title),
    property('description', description),
    property('url', `${site.slice(0, -1)}${linkOf(page)}`),
    property('image', `${site}${pictureOf(page)}`),
    property('image:width', String(size.width)),
    property('image:height', String(size.height)),
    property('image:alt', `${title}: ${description}`),
    ['meta', { name: 'twitter:card', content: 'summary_large_image' }],
    ['link', { rel: 'alternate', type: 'text/markdown', href: `${base}${page}.md` }],
  ];
}

const repository = repositoryUrl();

export default defineConfig({
  title: 'caller-stats',
  description: summary,
  lang: 'en-GB',
  base,
  cleanUrls: true,
  lastUpdated: askGit('log', '-1', '--format=%H') !== undefined,
  sitemap: { hostname: site },
  // Each page would load thirty others in advance, which Firefox reports as violations of the site's policy.
  router: { prefetchLinks: false },
  // Copies of files of the repository, which are there when all is built; a test looks for them.
  ignoreDeadLinks: [/^\/files\//],
  head: [['link', { rel: 'icon', href: '../favicon.svg' }]],
  // What would turn transitions off for a change of colours is a style within the page.
  appearance: { disableTransition: false },
  // The root, because some pages of other folders are in the site, too.
  srcDir: '..',
  srcExclude: [...foreignNames(), 'docs/.vitepress/**', `${ENGINEERING}/**`],
  rewrites: REWRITES,
  outDir: '../dist/docs',
  cacheDir: '../node_modules/.cache/vitepress',
  vite: {
    // Diagrams stay files, which browsers keep.
    build: { assetsInlineLimit: 0 },
    plugins: [
      {
        name: 'search',
        enforce: 'pre',
        // VitePress's search box asks our search instead of MiniSearch.
        resolveId: (id, importer) =>
          id === 'minisearch' && importer?.includes('VPLocalSearchBox')
            ? join(root, 'docs/.vitepress/search.ts')
            : undefined,
      },
    ],
  },
  markdown: {
    codeTransformers: [codeColours],
    config(md) {
      nameButtons(md.renderer.rules);
      md.core.ruler.push('tables', ({ tokens }) => fitTables(tokens));
      md.core.ruler.push('links-and-flags', ({ tokens, env }) => {
        // Of a page that is indexed for the search, VitePress tells the one, else both.
        const { path, realPath = path } = env as { path: string; realPath?: string };
        const page = relative(root, realPath);
        reserveImages(tokens, dirname(realPath));
        for (const token of tokens.flatMap(({ children }) => children ?? [])) {
          // Browsers would break the line after the hyphens.
          if (token.type === 'code_inline' && /^--\S{1,30}$/.test(token.content))
            token.attrJoin('class', 'flag');
          if (token.type !== 'link_open') continue;
          token.attrSet('href', siteLink(token.attrGet('href') ?? '', page));
        }
      });
    },
  },
  themeConfig: {
    search: {
      provider: 'local',
      options: {
        async _render(source, env, md) {
          const page = REWRITES[env.relativePath] ?? env.relativePath;
          return toIndexed(await md.renderAsync(source, env), pageOf(page));
        },
      },
    },
    sidebar: sidebar(),
    nav: [
      { text: 'Dashboard', link: '/../', target: '_self' },
      { text: 'Try the API', link: '/try', target: '_self' },
      {
        text: `Version ${version}`,
        items: [
          { text: 'Changes', link: '/changelog' },
          { text: 'Other versions', link: '/versioning#docs-of-other-versions' },
          ...releases(repository),
        ],
      },
    ],
    outline: [2, 3],
    ...(repository && { editLink: { pattern: `${repository}/edit/main/:path`, text: 'Edit this page' } }),
    // In English for every browser, as the rest of the page.
    lastUpdated: { text: 'Last change', formatOptions: { dateStyle: 'long', forceLocale: true } },
  },
  transformPageData: ({ relativePath }) => ({
    description: PAGES.get(pageOf(relativePath))?.description ?? '',
  }),
  transformHead: ({ pageData, title, description }) => previewOf(pageData.relativePath, title, description),
  transformHtml: (html) => strictPage(html, base),
  async buildEnd({ outDir }) {
    writeStrictFiles(outDir);
    writeTexts(outDir, { root, site, summary });
    mkdirSync(join(outDir, 'files'), { recursive: true });
    for (const file of downloads) copyFileSync(join(root, file), join(outDir, 'files', downloadName(file)));
    await Promise.all([precompress(outDir), writePictures(outDir, root)]);
  },
});
