/** Pages explain that the server is unreachable or failing, and recover by themselves. */
import { describe, expect, test } from 'vitest';
import { onSqlite } from '../support/browser/dashboard-server.js';
import { dashboardVisits, startSetUp } from '../support/browser/dashboard-visit.js';
import { countsOf } from '../support/browser/demo-api.js';
import { expectTiles, pollSeconds, tilesOf } from '../support/browser/overview.js';
import { sharedByTests } from '../support/cleanup.js';
import { kill } from '../support/cli/cli.js';

const open = dashboardVisits();
const shared = sharedByTests(startSetUp(onSqlite));

const everything = '/projects/demo?period=all&zone=UTC';

/** What the overview of it asks for. */
const numbers = '/api/organizations/default/projects/demo/numbers?period=all&timeZone=UTC&weekStart=monday';

describe('the overview', () => {
  test('shows an error and recovers as soon as the server does', async () => {
    const { server } = shared();
    const { page, troubles } = await open(shared(), '/livez');
    await page.clock.install();
    let isDown = true;
    await page.route(/\/numbers\?/, (route) =>
      isDown
        ? route.fulfill({
            status: 503,
            headers: { 'retry-after': '1' },
            json: { error: 'The store cannot be reached. Try again in a moment.' },
          })
        : route.continue(),
    );
    troubles.expect(`GET ${numbers}: 503`);
    await page.goto(everything);
    const alert = page.getByRole('alert');
    await pollSeconds(page, () => alert.getByText('The numbers could not be read.').count()).toBe(1);
    await alert.getByText(/The store cannot be reached\./).waitFor();
    await alert.getByRole('button', { name: 'Try again' }).waitFor();
    isDown = false;
    // Recovers without a click.
    await pollSeconds(page, () => tilesOf(page)).toEqual(await countsOf(server, {}));
    expect(await alert.count()).toBe(0);
  });

  test('keeps its numbers while the server is unreachable, marks them as old, and recovers by itself', async () => {
    const { server } = shared();
    const { page, context, troubles } = await open(shared(), '/livez');
    await page.clock.install();
    await page.goto(everything);
    const counts = await countsOf(server, {});
    await expectTiles(page, counts);
    const failure = `GET ${numbers}: net::ERR_INTERNET_DISCONNECTED`;
    troubles.expect(failure);
    await context.setOffline(true);
    const notice = page.getByText('The server cannot be reached.');
    await pollSeconds(page, () => notice.count()).toBe(1);
    const unexpected = () => troubles.unexpected();
    await pollSeconds(page, unexpected).not.toContain(`did not happen: ${failure}`);
    expect(await tilesOf(page)).toEqual(counts);
    await context.setOffline(false);
    await pollSeconds(page, () => notice.count()).toBe(0);
    await expectTiles(page, counts);
    // Whatever the page still loaded has failed, too.
    const offline =
      /^GET .*: net::ERR_INTERNET_DISCONNECTED$|^console: TypeError: Failed to fetch dynamically/;
    troubles.expect(...(await unexpected()).filter((one) => offline.test(one)));
  });

  test('waits for a hanging server and shows its response', async () => {
    const { server } = shared();
    const counts = await countsOf(server, {});
    const { page } = await open(shared(), '/projects/demo?period=today&zone=UTC');
    await page.getByRole('button', { name: /^Range:/ }).waitFor();
    await expectTiles(page, { web: 0, api: 0, other: 0, total: 0 });
    kill(server.pid, 'SIGSTOP');
    try {
      await page.getByRole('button', { name: /^Range:/ }).click();
      await page.getByRole('button', { name: 'All time', exact: true }).click();
      // The old numbers are marked as outdated.
      await page.locator('.overview[aria-busy="true"]').waitFor();
      await page.getByText('Loading…').waitFor();
      expect(await page.getByText(/^Updated /).count()).toBe(0);
    } finally {
      kill(server.pid, 'SIGCONT');
    }
    await expectTiles(page, counts);
  });
});

describe('a page whose code is not loaded yet', () => {
  /** Opens the overview before the code of the page of API keys has been loaded, and then that page. */
  async function openKeys(statuses: { code: number; session: number }) {
    const { page, troubles } = await open(shared(), '/livez');
    await page.clock.install();
    await page.route(/\/assets\/keys-page/, (route) =>
      statuses.code === 200 ? route.continue() : route.fulfill({ status: statuses.code }),
    );
    await page.goto(everything);
    const link = page.getByRole('link', { name: 'API keys' });
    await link.waitFor();
    await page.route('**/api/session', (route) =>
      statuses.session === 200 ? route.continue() : route.fulfill({ status: statuses.session }),
    );
    await page.evaluate('window.isSameDocument = true');
    await link.click();
    return { page, troubles, isSame: () => page.evaluate('window.isSameDocument === true') };
  }

  test('appears by itself once the server is back', async () => {
    const statuses = { code: 503, session: 503 };
    const { page, troubles } = await openKeys(statuses);
    await expect.poll(async () => (await troubles.unexpected()).join()).toMatch('/api/session: 503');
    troubles.expect(...(await troubles.unexpected()));
    statuses.code = 200;
    statuses.session = 200;
    await pollSeconds(page, () => page.getByRole('heading', { name: 'API keys', level: 1 }).count()).toBe(1);
  });

  test('is reloaded once after an upgrade, and then shows an error', async () => {
    const { page, troubles, isSame } = await openKeys({ code: 404, session: 200 });
    await page.getByRole('alert').getByText('This page could not be shown.').waitFor();
    expect(await isSame()).toBe(false);
    expect(new URL(page.url()).pathname).toBe('/projects/demo/keys');
    troubles.expect(...(await troubles.unexpected()));
  });
});

test('all pages can be opened without the server once one page has been loaded', async () => {
  const { page, context, troubles } = await open(shared(), everything);
  const names = ['API keys', 'Settings', 'Members', 'Audit log', 'Overview'];
  const loaded = 'performance.getEntriesByType("resource").map(({ name }) => name).join()';
  for (const part of ['audit-page', 'new-key-dialog', 'try-page'])
    await expect.poll(() => page.evaluate(loaded), { timeout: 20_000 }).toContain(part);
  // Only code is loaded in advance.
  expect(await page.evaluate(loaded)).not.toContain('openapi.json');
  await context.setOffline(true);
  for (const name of names) {
    await page.getByRole('link', { name, exact: true }).click();
    await page.getByRole('heading', { name, level: 1 }).waitFor();
  }
  troubles.expect(...(await troubles.unexpected()));
});

test('a change that does not reach the server is reverted with a message', async () => {
  const { page, troubles } = await open(shared(), '/projects/demo/keys');
  const row = page.getByRole('row', { name: /^first admin key|admin/i }).first();
  await row.waitFor();
  await page.route('**/disable', (route) => route.abort('connectionrefused'));
  const menu = row.getByRole('button', { name: /^Actions for/ });
  await menu.click();
  await page.getByRole('menuitem', { name: 'Disable' }).click();
  await page.getByRole('status').getByText('The server cannot be reached.').waitFor();
  await expect.poll(() => row.getByText('Disabled').count()).toBe(0);
  const failed = (await troubles.unexpected()).filter((one) =>
    /\/disable: net::ERR_CONNECTION_REFUSED$/.test(one),
  );
  expect(failed).toHaveLength(1);
  troubles.expect(...failed);
});

test('a form keeps its input if the request fails', async () => {
  const { page, troubles } = await open(shared(), '/new-project');
  await page.route('**/projects', (route) =>
    route.request().method() === 'POST' ? route.abort('connectionrefused') : route.continue(),
  );
  troubles.expect('POST /api/organizations/default/projects: net::ERR_CONNECTION_REFUSED');
  await page.getByLabel('Name').fill('Handbook');
  await page.getByRole('button', { name: 'Create project' }).click();
  await page.getByRole('alert').getByText('The server cannot be reached.').waitFor();
  expect(await page.getByLabel('Name').inputValue()).toBe('Handbook');
  await page.unroute('**/projects');
  await page.getByRole('button', { name: 'Create project' }).click();
  await page.getByText('Nothing was recorded in this project yet.').waitFor();
});
