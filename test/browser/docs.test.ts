import { expect, test } from 'vitest';
import { accessibilityProblems, expectAccessible } from '../support/browser/accessible.js';
import { browserVisits } from '../support/browser/browser.js';
import { onSqlite } from '../support/browser/dashboard-server.js';
import { sharedByTests } from '../support/cleanup.js';
import { expected } from '../support/sample.js';

const visit = browserVisits();
const server = sharedByTests(() => onSqlite());

test('the documentation can be read, searched and followed without external requests', async () => {
  const { url } = server();
  const { page } = await visit(url);
  await page.goto('/docs');
  await page.getByRole('heading', { name: 'Start', level: 1 }).waitFor();
  await expectAccessible(page);

  await page.getByRole('link', { name: 'Recording', exact: true }).click();
  await page.getByRole('heading', { name: 'Recording', level: 1 }).waitFor();
  expect(new URL(page.url()).pathname).toBe('/docs/record');
  await expectAccessible(page);

  await page.getByRole('button', { name: 'Search' }).click();
  await page.getByRole('searchbox').fill('grace period');
  await page.locator('.VPLocalSearchBox a', { hasText: 'Keys' }).first().click();
  await page.getByRole('heading', { name: 'Keys and people', level: 1 }).waitFor();
  expect(new URL(page.url()).pathname).toBe('/docs/keys');

  await page.goto('/docs/settings#postgresql');
  await page.getByRole('heading', { name: 'PostgreSQL' }).waitFor();
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

test("the documentation follows the system's dark mode", async () => {
  const { url } = server();
  const { page } = await visit(url);
  await page.emulateMedia({ colorScheme: 'dark' });
  await page.goto('/docs/record');
  await page.locator('html.dark').waitFor();
  await expectAccessible(page);
});

test('the API explorer lists every operation and can call one with a key', async () => {
  const { url, firstRun } = server();
  const { page, troubles } = await visit(url);
  await page.goto('/docs/try');
  await page.getByRole('heading', { name: 'caller-stats' }).waitFor();
  expect(await page.title()).toBe('caller-stats API');
  const { paths } = (await (await fetch(`${url}/openapi.json`)).json()) as { paths: Record<string, object> };
  const operations = Object.values(paths).flatMap((path) => Object.keys(path));
  expect(await page.locator('.opblock').count()).toBe(operations.length);

  const operation = page.locator('.opblock', { hasText: '/assistant/caller-stats' });
  await operation.locator('.opblock-summary-control').first().click();
  await operation.getByRole('button', { name: 'Try it out' }).click();
  await operation.getByPlaceholder('projectId').fill(firstRun.project);
  const execute = operation.getByRole('button', { name: 'Execute' });
  const answer = operation.locator('.live-responses-table .response-col_status');
  troubles.expect(`GET /v1/analytics/${firstRun.project}/assistant/caller-stats: 401`);
  await execute.click();
  await answer.getByText('401').waitFor();

  await page.getByRole('button', { name: 'Authorize' }).first().click();
  const key = page.locator('.auth-container', { hasText: 'adminKey' });
  await key.getByRole('textbox').fill(firstRun.admin);
  await key.getByRole('button', { name: 'Apply credentials' }).click();
  await key.getByRole('button', { name: 'Close' }).click();
  await execute.click();
  await answer.getByText('200').waitFor();
  const body = await operation.locator('.live-responses-table code').first().innerText();
  expect(JSON.parse(body)).toMatchObject({ total: expected.queries });
});

test('the API explorer, a third-party page, has only known accessibility problems', async () => {
  const { url } = server();
  const { page } = await visit(url);
  await page.goto('/docs/try');
  await page.getByRole('heading', { name: 'caller-stats' }).waitFor();
  const rules = (await accessibilityProblems(page)).flatMap((line) => /^[a-z-]+/.exec(line)?.[0] ?? []);
  const known = [
    'color-contrast',
    'heading-order',
    'nested-interactive',
    'region',
    'select-name',
    'target-size',
  ];
  expect(rules.filter((rule) => !known.includes(rule))).toEqual([]);
});
