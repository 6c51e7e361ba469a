/** The first visit: from the set-up link in the server's output to the first chart. */
import { describe, expect, test } from 'vitest';
import { everyDashboardStarter } from '../support/browser/dashboard-server.js';
import { ada } from '../support/browser/dashboard-user.js';
import { dashboardVisits } from '../support/browser/dashboard-visit.js';
import { expectTiles, numberOf, rowsOf } from '../support/browser/overview.js';
import { expected } from '../support/sample.js';

const open = dashboardVisits();

const everything = expected.ranges.find(({ query }) => Object.keys(query).length === 0)?.counts;
if (everything === undefined) throw new Error('The sample says nothing of all time.');

describe.each(everyDashboardStarter)('on %s', (_kind, start) => {
  test('the set-up link creates one account and leads to the overview', async () => {
    const server = await start();
    const place = { server, session: null };

    // Without the link, the page explains where to find it.
    const stranger = await open(place, '/');
    await stranger.page.getByRole('heading', { name: 'Set up this server' }).waitFor();
    await stranger.page.goto('/set-up#wrong');
    await stranger.page.getByLabel('Organization').fill('Evil');
    await stranger.page.getByLabel('Name').fill('Eve');
    await stranger.page.getByLabel('E-mail').fill('eve@example.com');
    await stranger.page.getByLabel('Password', { exact: true }).fill(ada.password);
    stranger.troubles.expect('POST /api/set-up: 404');
    await stranger.page.getByRole('button', { name: 'Create account' }).click();
    await stranger.page.getByRole('heading', { name: 'This address does not work' }).waitFor();

    const { page } = await open(place, server.setUpUrl);
    await page.getByLabel('Organization').fill('Analytical Engines');
    await page.getByLabel('Name').fill(ada.name);
    await page.getByLabel('E-mail').fill(ada.email);
    const password = page.getByLabel('Password', { exact: true });
    await password.fill('too short');
    await page.getByRole('button', { name: 'Create account' }).click();
    expect(await page.locator('input:invalid').getAttribute('name')).toBe('password');
    await password.fill(ada.password);
    // Neither the history nor a copied URL contains the token.
    expect(page.url()).toBe(`${server.url}/set-up`);
    await page.getByRole('button', { name: 'Create account' }).click();
    await page.getByRole('heading', { name: 'Overview' }).waitFor();
    expect(new URL(page.url()).pathname).toBe('/projects/assistant-demo');
    await page.getByRole('banner').getByText('Sample data').waitFor();
    await page.getByRole('button', { name: 'Range: 30 days to date' }).waitFor();

    await page.goto(`/projects/${server.firstRun.project}`);

    // The sample queries are older than the default range.
    await page.getByRole('button', { name: 'Range: All time' }).waitFor();
    await page.getByRole('banner').getByText('Sample data').waitFor();
    await expectTiles(page, everything);
    await page.getByRole('slider', { name: /^Queries per/ }).waitFor();
    const table = page.getByRole('table', { name: 'Callers' });
    await table.waitFor();
    const callers = await rowsOf(table);
    expect(callers.map(([name]) => name).toSorted()).toEqual([
      'api',
      'git-cli',
      'github-desktop',
      'sdk.git',
      'web',
    ]);
    expect(callers.reduce((sum, [, , , count]) => sum + (numberOf(count) ?? 0), 0)).toBe(everything.total);

    // The link does not work again.
    const second = await open(place, server.setUpUrl);
    await second.page.getByRole('heading', { name: 'This address does not work' }).waitFor();
    await second.page.getByText('It was already used').waitFor();
    await second.page.getByRole('link', { name: 'Go to sign-in' }).click();
    await second.page.getByRole('heading', { name: 'Sign in' }).waitFor();
  });
});
