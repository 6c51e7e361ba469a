import { expect, test } from 'vitest';
import { sidebar } from '../../docs/.vitepress/pages.js';
import { expectAccessible } from '../support/browser/accessible.js';
import { browserVisits } from '../support/browser/browser.js';
import { onSqlite } from '../support/browser/dashboard-server.js';
import { sharedByTests } from '../support/cleanup.js';
import { runCommand } from '../support/cli/cli.js';
import { expected } from '../support/sample.js';

const visit = browserVisits();
const server = sharedByTests(() => onSqlite());

test('the documentation can be read, searched and followed without external requests', async () => {
  const { url } = server();
  const { page } = await visit(url);
  await page.goto('/docs');
  await page.getByRole('heading', { name: 'Quick start', level: 1 }).waitFor();
  await expectAccessible(page);

  await page.getByRole('link', { name: 'Record over HTTP', exact: true }).first().click();
  await page.getByRole('heading', { name: 'Record over HTTP', level: 1 }).waitFor();
  expect(new URL(page.url()).pathname).toBe('/docs/record');
  await expectAccessible(page);

  await page.getByRole('button', { name: 'Search' }).click();
  await page.getByRole('searchbox').fill('grace period');
  await page.locator('.VPLocalSearchBox a', { hasText: 'API keys' }).first().click();
  await page.getByRole('heading', { name: 'API keys', level: 1 }).waitFor();
  expect(new URL(page.url()).pathname).toBe('/docs/keys');

  await page.goto('/docs/settings#postgresql');
  await page.getByRole('heading', { name: 'PostgreSQL', level: 2 }).waitFor();

  await page.getByRole('link', { name: 'Dashboard', exact: true }).click();
  await page.getByRole('heading', { name: 'Set up this server' }).waitFor();
  await page.getByRole('contentinfo').getByRole('link', { name: 'API' }).click();
  await page.getByRole('heading', { name: 'Try the API' }).waitFor();
});

test('the search works where the browser blocks site data', async () => {
  const { page, troubles } = await visit(server().url);
  // Of a script in the page's head, which looks for the theme that the reader chose.
  troubles.expect('uncaught: blocked');
  await page.addInitScript(`for (const name of ['localStorage', 'sessionStorage'])
    Object.defineProperty(window, name, { configurable: true, get: () => { throw new Error('blocked') } })`);
  await page.goto('/docs/record');
  await page.getByRole('button', { name: 'Search' }).click();
  await page.getByRole('searchbox').fill('grace period');
  await page.locator('.VPLocalSearchBox a', { hasText: 'API keys' }).first().click();
  await page.getByRole('heading', { name: 'API keys', level: 1 }).waitFor();
});

test.each([
  ['/docs/no-such-page', '/docs/'],
  ['/docs/settings/more', '/docs/'],
  ['/nothing', '/'],
])('the unknown address %s shows a page that leads on', async (path, next) => {
  const { page, troubles } = await visit(server().url);
  troubles.expect(`GET ${path}: 404`);
  // VitePress looks whether the site has changed.
  if (next === '/docs/') troubles.expect('GET /docs/hashmap.json: 404');
  await page.goto(path);
  await page.getByRole('heading', { name: 'Not found', level: 1 }).waitFor();
  await expectAccessible(page);
  await page.getByRole('main').getByRole('link').click();
  await page.waitForURL(`**${next}`);
});

test('the tables of all pages fit a desktop and a phone', async () => {
  const { url } = server();
  const { page } = await visit(url);
  await page.goto('/docs/settings');
  const names = sidebar().flatMap(({ items }) => items.map(({ link }) => link));
  const findWide = () =>
    // In the page, where the document is: shows the content of every page in turn.
    page.evaluate<string[]>(`(async () => {
      const wide = [];
      for (const name of ${JSON.stringify(names)}) {
        const text = await (await fetch('/docs' + name)).text();
        const content = new DOMParser().parseFromString(text, 'text/html').querySelector('.vp-doc');
        document.querySelector('.vp-doc').replaceChildren(...content.childNodes);
        const tables = [...document.querySelectorAll('.vp-doc table')];
        wide.push(...tables.filter((one) => one.scrollWidth > one.clientWidth).map((one) => name + ': ' + one.textContent.slice(0, 60)));
      }
      return wide;
    })()`);
  for (const width of [1280, 390]) {
    await page.setViewportSize({ width, height: 800 });
    expect(await findWide(), `${width} pixels`).toEqual([]);
  }
});

test("the documentation follows the system's dark mode", async () => {
  const { url } = server();
  const { page } = await visit(url);
  await page.emulateMedia({ colorScheme: 'dark' });
  await page.goto('/docs/record');
  await page.locator('html.dark').waitFor();
  await expectAccessible(page);
  await page.goto('/docs/');
  await expect
    .poll(() => page.evaluate('document.querySelector("picture img")?.currentSrc'))
    .toContain('overview-dark');
});

test('the page to try the API has every operation, sends requests with a key and shows them as commands', async () => {
  const { url, firstRun } = server();
  const { page, troubles } = await visit(url);
  await page.goto('/docs/try');
  await page.getByRole('heading', { name: 'Try the API', level: 1 }).waitFor();
  const { paths } = (await (await fetch(`${url}/openapi.json`)).json()) as { paths: Record<string, object> };
  const operations = Object.values(paths).flatMap((path) => Object.keys(path));
  await expect.poll(() => page.locator('summary').count()).toBe(operations.length);

  const open = async (name: string) => {
    await page.locator('summary', { hasText: name }).first().click();
    return page.getByRole('form', { name, exact: true });
  };
  const read = await open('Assistant caller stats');
  const send = read.getByRole('button', { name: 'Send' });
  const answer = page.getByRole('region', { name: 'Response: Assistant caller stats', exact: true }).first();
  await page.getByLabel('Project id').fill(firstRun.project);
  troubles.expect(`GET /v1/analytics/${firstRun.project}/assistant/caller-stats: 401`);
  await send.click();
  await answer.getByText('401').waitFor();
  await page.getByText('A reading or admin key reads, a recording key records.').waitFor();
  await page.getByLabel('API key').fill(firstRun.admin);
  await read.getByLabel('dateFrom').fill('2000-01-01');
  await send.click();
  await answer.getByText('200 OK').waitFor();
  const shown = await answer.locator('pre').innerText();
  expect(JSON.parse(shown)).toMatchObject({ total: expected.queries });
  const command = await read.getByRole('region', { name: /^command/ }).innerText();
  expect(command).not.toContain(firstRun.admin);
  const ran = await runCommand('bash', ['-c', command], { env: { ADMIN_KEY: firstRun.admin } });
  expect(JSON.parse(ran.stdout)).toEqual(JSON.parse(shown));

  const record = await open('Record queries');
  await page.getByLabel('Project id').fill('no-such-project');
  troubles.expect('POST /v1/analytics/no-such-project/assistant/queries: 404');
  await record.getByRole('button', { name: 'Send' }).click();
  await record.getByText('There is no such project.').waitFor();
  for (const colorScheme of ['light', 'dark'] as const) {
    await page.emulateMedia({ colorScheme });
    await expectAccessible(page);
  }
});
