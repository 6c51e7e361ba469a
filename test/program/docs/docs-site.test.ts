/** The built documentation site: all links work, and pages load nothing from other servers. */
import { existsSync, readFileSync } from 'node:fs';
import { join } from 'node:path';
import { describe, expect, test } from 'vitest';
import { existingPages, sidebar } from '../../../docs/.vitepress/pages.js';
import { markupProblems } from '../../support/markup.js';
import { filesBelow, read, root } from '../../tidy/sources.js';

const base = '/docs/';

const pages = new Map(
  filesBelow('dist/docs', '.html').map(({ path, text }) => [
    path.replace(/^dist\/docs\//, '').replace(/(index)?\.html$/, ''),
    text,
  ]),
);

function all(text: string, pattern: RegExp): string[] {
  return [...text.matchAll(pattern)].map(([, one = '']) => one.replaceAll('&amp;', '&'));
}

/** What is wrong with a link of a page; undefined if it works. */
function findProblem(link: string, page: string): string | undefined {
  const url = URL.canParse(link, `http://site.test${base}${page}`)
    ? new URL(link, `http://site.test${base}${page}`)
    : undefined;
  if (url === undefined) return 'is not an address';
  if (url.host !== 'site.test') return url.protocol === 'https:' ? undefined : 'is not https';
  // The dashboard.
  if (url.pathname === '/') return undefined;
  if (!url.pathname.startsWith(base)) return 'leaves the site';
  const path = url.pathname.slice(base.length);
  // The server serves it, not the site.
  if (path === 'try') return undefined;
  const text = pages.get(path);
  if (text === undefined)
    return /^files\/|\.\w+$/.test(path) && existsSync(join(root, 'dist/docs', path))
      ? undefined
      : 'leads nowhere';
  const id = decodeURIComponent(url.hash.slice(1));
  return id === '' || all(text, /\sid="([^"]+)"/g).includes(id)
    ? undefined
    : 'has an anchor that is not there';
}

test.each([
  ['no-such-page', 'leads nowhere'],
  ['settings#no-such-heading', 'has an anchor that is not there'],
  ['assets/nothing.js', 'leads nowhere'],
  ['/elsewhere', 'leaves the site'],
  ['http://example.org/', 'is not https'],
  ['https://', 'is not an address'],
  ['settings#postgresql', undefined],
  ['https://example.org/', undefined],
  ['../', undefined],
])('the check says of a link to %s: %s', (link, problem) => {
  expect(findProblem(link, 'reading')).toBe(problem);
});

test('every page is in the sidebar and has one main heading', () => {
  const listed = sidebar().flatMap(({ items }) => items.map(({ link }) => link.slice(1)));
  expect([...pages.keys()].filter((name) => name !== '404').sort()).toEqual([...listed].sort());
  for (const [name, text] of pages)
    if (name !== '404') expect(all(text, /<h1 id="([^"]+)"/g), name).toHaveLength(1);
});

describe.each([...pages].filter(([name]) => name !== '404'))('the page "%s"', (name, text) => {
  test('has working links only', () => {
    const links = [...all(text, /<a[^>]*\shref="([^"]*)"/g), ...all(text, /\ssrc="([^"]*)"/g)];
    expect(links.length).toBeGreaterThan(10);
    expect(links.flatMap((link) => findProblem(link, name)?.concat(`: ${link}`) ?? [])).toEqual([]);
  });

  test('has no markup that html-validate objects to', async () => {
    expect(await markupProblems(text)).toEqual([]);
  });

  test('has no inline script or style and loads nothing from other servers', () => {
    expect(text).not.toMatch(/<style|\sstyle=|<script(?![^>]*\bsrc=)|\son\w+="/);
    const loaded = [...all(text, /\ssrc="([^"]*)"/g), ...all(text, /<link[^>]*\shref="([^"]*)"/g)];
    // A file of the dashboard.
    const own = (one: string) => one.startsWith(base) || one === '../favicon.svg';
    expect(loaded.filter((one) => !own(one))).toEqual([]);
  });
});

test('style sheets load nothing from other servers', () => {
  const styles = filesBelow('dist/docs/assets', '.css');
  expect(styles.length).toBeGreaterThan(0);
  const loaded = styles.flatMap(({ text }) => all(text, /(@import|url\((?!["']?data:)[^)]*)/g));
  expect(loaded.filter((one) => one.includes('@import') || one.includes('//'))).toEqual([]);
});

test('a style sheet has the colors of code', () => {
  const { text } = read('dist/docs/record.html');
  const colours = all(text, /class="(code-[a-z0-9]+)"/g);
  const styles = filesBelow('dist/docs/assets', '.css')
    .map((file) => file.text)
    .join('');
  expect(colours.length).toBeGreaterThan(0);
  expect(colours.filter((name) => !styles.includes(`.${name}{`))).toEqual([]);
});

/** The links of a Markdown page outside of code. */
const linksIn = (text: string): string[] =>
  all(text.replaceAll(/^```[\s\S]*?^```/gm, ''), /\]\(([^)\s]+)\)/g);

describe('for programs and previews of links', () => {
  const { text: list } = read('dist/docs/llms.txt');
  const { text: map } = read('dist/docs/sitemap.xml');
  const site = 'http://127.0.0.1:4000/docs/';

  test.each(existingPages().map((page) => [page.name, page] as const))(
    'the page "%s" exists as Markdown with working links, and has a description and a picture of its own',
    (name, { description }) => {
      const { text } = read(`dist/docs/${name}.md`);
      const links = linksIn(text).map((link) => link.replace(/^index\.md/, './').replace(/\.md(?=#|$)/, ''));
      expect(links.flatMap((link) => findProblem(link, name)?.concat(`: ${link}`) ?? [])).toEqual([]);
      expect(list).toContain(`](${site}${name}.md): ${description}\n`);
      expect(map).toContain(`<loc>${site}${name === 'index' ? '' : name}</loc>`);
      const html = pages.get(name === 'index' ? '' : name) ?? '';
      // In the letters of the font that draws the pictures.
      expect(description).toMatch(/^[A-Z][ -~]{20,158}\.$/);
      expect(html).toContain(`<meta name="description" content="${description}">`);
      expect(html).toContain(`<meta property="og:description" content="${description}">`);
      expect(html).toContain(`<meta property="og:image" content="${site}files/previews/${name}.png">`);
      const header = readFileSync(join(root, `dist/docs/files/previews/${name}.png`)).subarray(0, 24);
      expect(header.toString('latin1', 1, 4)).toBe('PNG');
      const stated = ['width', 'height'].flatMap((side) =>
        all(html, new RegExp(`og:image:${side}" content="(\\d+)"`, 'g')),
      );
      expect([header.readUInt32BE(16), header.readUInt32BE(20)].map(String)).toEqual(stated);
    },
  );
});

test('programs that show or list pages may read the docs, and nothing else', () => {
  const rules = read('dist/dashboard/robots.txt')
    .text.split('\n')
    .filter((line) => !/^(#|$)/.test(line));
  expect(rules).toEqual(['User-agent: *', 'Allow: /docs/', 'Disallow: /']);
});

test('pages lead to the next one, to the dashboard, and say which version they describe', () => {
  const { text } = read('dist/docs/record.html');
  expect(text).toMatch(/class="VPLink link pager-link next" href="\/docs\/client"/);
  expect(text).toContain('href="/docs/../"');
  // In the menu of the version; in the sidebar it would be a paragraph.
  expect(text).toMatch(
    /<a[^>]* href="\/docs\/versioning#docs-of-other-versions"[^>]*>[^p]{0,20}<span[^>]*>Other versions</,
  );
  expect(text).toContain(`Version ${JSON.parse(read('package.json').text).version}`);
});
