/** The dashboard below a base path: every page, link and request stays below it. */
import { expect, test } from 'vitest';
import { onSqlite } from '../support/browser/dashboard-server.js';
import { ada } from '../support/browser/dashboard-user.js';
import { dashboardVisits } from '../support/browser/dashboard-visit.js';

const open = dashboardVisits();

test('set-up, navigation, reload and sign-out stay below the base path', async () => {
  const server = await onSqlite(['--base-path', '/team/stats/']);
  expect(new URL(server.url).pathname).toBe('/team/stats');
  const { page, context } = await open({ server, session: null }, server.setUpUrl);
  const path = () => new URL(page.url()).pathname;
  await page.getByLabel('Organization').fill('Analytical Engines');
  await page.getByLabel('Name').fill(ada.name);
  await page.getByLabel('E-mail').fill(ada.email);
  await page.getByLabel('Password', { exact: true }).fill(ada.password);
  expect(page.url()).toBe(`${server.url}/set-up`);
  await page.getByRole('button', { name: 'Create account' }).click();
  await page.getByRole('heading', { name: 'Overview' }).waitFor();
  expect(path()).toBe('/team/stats/projects/assistant-demo');

  await page.getByRole('link', { name: 'Members' }).click();
  await page.getByRole('row', { name: /Ada.*You/ }).waitFor();
  expect(path()).toBe('/team/stats/members');
  await page.reload();
  await page.getByRole('row', { name: /Ada.*You/ }).waitFor();

  // Other services on the host do not receive its cookies.
  const cookies = await context.cookies();
  expect(cookies.length).toBeGreaterThan(0);
  for (const cookie of cookies) expect(cookie.path).toMatch(/^\/team\/stats(\/api)?$/);

  await page.getByRole('button', { name: /Account menu/ }).click();
  await page.getByRole('menuitem', { name: 'Sign out' }).click();
  await page.getByRole('heading', { name: 'Sign in' }).waitFor();
  expect(path()).toBe('/team/stats/sign-in');
  await page.goto(`${server.url}/audit`);
  await page.getByLabel('E-mail').fill(ada.email);
  await page.getByLabel('Password', { exact: true }).fill(ada.password);
  await page.getByRole('button', { name: 'Sign in' }).click();
  await page.getByRole('heading', { name: 'Audit log' }).waitFor();
  expect(path()).toBe('/team/stats/audit');

  await page.goto(`${server.url}/docs`);
  await page.getByRole('heading', { name: 'Start', level: 1 }).waitFor();
  expect(path()).toBe('/team/stats/docs/');
  await page.getByRole('link', { name: 'Record over HTTP', exact: true }).first().click();
  await page.getByRole('heading', { name: 'Record over HTTP', level: 1 }).waitFor();
  expect(path()).toBe('/team/stats/docs/record');
  await page.goto(`${server.url}/docs/try`);
  await page.getByText('/v1/analytics/{projectId}/assistant/caller-stats', { exact: true }).waitFor();
});
