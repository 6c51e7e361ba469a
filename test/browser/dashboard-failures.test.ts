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

const everything = '/projects/demo?range=all&zone=UTC';

describe('the overview', () => {
  test('shows an error and recovers as soon as the server does', async () => {
    const { server } = shared();
    const { page, troubles } = await open(shared(), '/livez');
    await page.clock.install();
    let isDown = true;
    await page.route(/\/(caller-stats|series|callers)\?/, (route) =>
      isDown
        ? route.fulfill({
            status: 503,
            headers: { 'retry-after': '1' },
            json: { error: 'The store cannot be reached. Try again in a moment.' },
          })
        : route.continue(),
    );
    await page.route(/\/(caller-stats|callers)$/, (route) =>
      isDown
        ? route.fulfill({ status: 503, json: { error: 'The store cannot be reached.' } })
        : route.continue(),
    );
    const base = '/api/organizations/default/projects/demo';
    troubles.expect(
      `GET ${base}/caller-stats: 503`,
      `GET ${base}/series?interval=month&timeZone=UTC: 503`,
      `GET ${base}/callers: 503`,
    );
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
    const base = '/api/organizations/default/projects/demo';
    const asked = [`${base}/caller-stats`, `${base}/series?interval=month&timeZone=UTC`, `${base}/callers`];
    troubles.expect(...asked.map((path) => `GET ${path}: net::ERR_INTERNET_DISCONNECTED`));
    await context.setOffline(true);
    const notice = page.getByText('The server cannot be reached.');
    await pollSeconds(page, () => notice.count()).toBe(1);
    expect(await tilesOf(page)).toEqual(counts);
    await context.setOffline(false);
    await pollSeconds(page, () => notice.count()).toBe(0);
    await expectTiles(page, counts);
  });

  test('waits for a hanging server and shows its response', async () => {
    const { server } = shared();
    const counts = await countsOf(server, {});
    const { page } = await open(shared(), '/projects/demo?range=today&zone=UTC');
    await page.getByRole('button', { name: /^Range:/ }).waitFor();
    await expectTiles(page, { web: 0, api: 0, other: 0, total: 0 });
    kill(server.pid, 'SIGSTOP');
    try {
      await page.getByRole('button', { name: /^Range:/ }).click();
      await page.getByRole('button', { name: 'All time', exact: true }).click();
      // The old numbers are marked as outdated.
      await page.locator('.overview[aria-busy="true"]').waitFor();
    } finally {
      kill(server.pid, 'SIGCONT');
    }
    await expectTiles(page, counts);
  });
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
