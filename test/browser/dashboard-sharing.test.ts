/** A project is shared by links: created in the settings, opened without a session, embedded, and revoked. */
import { expect, test } from 'vitest';
import type { CallerCounts, Counts } from '../../src/domain/counting/counts.js';
import type { CreatedShareLinkResponse } from '../../src/http/dashboard/responses.js';
import { expectAccessible, expectAccessibleEverywhere } from '../support/browser/accessible.js';
import { onSqlite } from '../support/browser/dashboard-server.js';
import { person } from '../support/browser/dashboard-user.js';
import { dashboardVisits, startSetUp } from '../support/browser/dashboard-visit.js';
import { expectTiles, patience } from '../support/browser/overview.js';
import { sharedByTests } from '../support/cleanup.js';
import { startHttpServer } from '../support/http-server.js';

const open = dashboardVisits();
const shared = sharedByTests(startSetUp(onSqlite));
const project = '/api/organizations/default/projects/demo';
const bounds = 'dateFrom=2025-01-01&dateTo=2026-01-01';
const year = 'from=2025-01-01&to=2025-12-31&zone=UTC';
const { password } = person('Ada');

async function share(body: object = {}): Promise<CreatedShareLinkResponse> {
  return shared().session.ask('POST', `${project}/share-links`, { name: 'Board', expires: '7d', ...body });
}

function countYear(more = ''): Promise<Counts> {
  return shared().session.ask('GET', `${project}/caller-stats?${bounds}${more}`);
}

/** Opens an address like somebody who only has that. */
const openAsVisitor = (path: string) => open({ ...shared(), session: null }, path);

test('an owner creates a link in the settings, and revokes it while somebody looks at it', async () => {
  const { page, troubles } = await open(shared(), '/projects/demo/settings');
  troubles.expect(`POST ${project}/share-links: 400`);
  await page.getByText('This project has no share links.').waitFor();
  await page.getByRole('button', { name: 'Create share link…' }).click();
  const dialog = page.getByRole('dialog');
  await dialog.getByLabel('Name').fill('For the board');
  await dialog.getByLabel('Require a password').check();
  await dialog.getByLabel('Password', { exact: true }).fill(password);
  await dialog.getByLabel('Origins that may embed it').fill('https://docs.example.com/path');
  await expectAccessible(page);
  await dialog.getByRole('button', { name: 'Create link' }).click();
  await dialog.getByText(/is not an origin such as/).waitFor();
  await dialog.getByLabel('Origins that may embed it').fill('https://docs.example.com');
  await dialog.getByRole('button', { name: 'Create link' }).click();
  await page.getByRole('dialog', { name: 'Share link created' }).waitFor();
  await expectAccessible(page);
  const address = await dialog.locator('.once code').innerText();
  expect(await dialog.getByText(`<iframe src="${address}"`).count()).toBe(1);
  await dialog.getByLabel('Embed', { exact: true }).selectOption('Only the chart');
  expect(await dialog.getByText(`<iframe src="${address}?show=chart"`).count()).toBe(1);
  await dialog.getByLabel('Theme', { exact: true }).selectOption('Dark');
  expect(await dialog.getByText(`<iframe src="${address}?show=chart&amp;theme=dark"`).count()).toBe(1);
  // A link with a password serves no CSV.
  expect(await dialog.getByText('.csv').count()).toBe(0);
  await dialog.getByRole('button', { name: 'Done' }).click();
  const row = page.getByRole('listitem').filter({ hasText: 'For the board' });
  expect(await row.innerText()).toContain(
    `Ends with ${address.slice(-4)}. Created by ada@example.com. Expires on`,
  );

  const visitor = await openAsVisitor(new URL(address).pathname);
  visitor.troubles.expect(`GET ${new URL(address).pathname.replace('/share/', '/api/shared/')}: 401`);
  await visitor.page.getByRole('heading', { name: 'Password needed' }).waitFor();
  await page.getByRole('button', { name: 'Revoke For the board' }).click();
  await page.getByRole('dialog').getByRole('button', { name: 'Revoke link' }).click();
  await page.getByText('This project has no share links.').waitFor();
  visitor.troubles.expect(`POST ${new URL(address).pathname.replace('/share/', '/api/shared/')}/unlock: 404`);
  await visitor.page.getByLabel('Password').fill(password);
  await visitor.page.getByRole('button', { name: 'Show the page' }).click();
  await visitor.page.getByText('This link does not work').waitFor();
});

test('a visitor sees the counts of the project and nothing of its organization', async () => {
  const { token } = await share();
  const { page, context } = await openAsVisitor(`/share/${token}?${year}`);
  const requests: string[] = [];
  page.on('request', (request) => requests.push(`${request.headers()['referer'] ?? ''} ${request.url()}`));
  await page.reload();
  await expectTiles(page, await countYear());
  await page.getByRole('heading', { name: 'Sample events', level: 1 }).waitFor();
  await page.getByRole('slider').waitFor();
  const { callers } = await shared().session.ask<CallerCounts>('GET', `${project}/callers?${bounds}`);
  const caller = callers.at(-1)?.caller ?? '';
  await page.getByRole('button', { name: caller, exact: true }).click();
  await expectTiles(page, await countYear(`&caller=${caller}`));
  await page.getByRole('button', { name: /Show all callers/ }).click();
  await page.getByLabel('Compare', { exact: true }).check();
  await page.getByRole('button', { name: 'Show as table' }).click();
  await page.getByRole('table', { name: /^Queries per/ }).waitFor();

  const own = ['/assets/', '/share/', '/api/shared/', '/favicon', '/theme.js'];
  const others = requests.filter(
    (one) => !own.some((path) => new URL(one.split(' ')[1] ?? '').pathname.startsWith(path)),
  );
  expect(others).toEqual([]);
  expect(requests.filter((one) => one.startsWith('http'))).toEqual([]);
  expect(await context.cookies()).toEqual([]);
  const text = await page.locator('body').innerText();
  for (const secret of ['Default', 'ada@', 'API keys', 'Settings', 'Copy as curl', '0.', 'Documentation'])
    expect(text).not.toContain(secret);
  expect(await page.getByRole('link').count()).toBe(0);
  await expectAccessibleEverywhere(page);
});

test('a password is asked for once while the page is open, and never stored', async () => {
  const { token } = await share({ password });
  const { page, context, troubles } = await openAsVisitor(`/share/${token}?${year}`);
  troubles.expect(`GET /api/shared/${token}: 401`, `POST /api/shared/${token}/unlock: 403`);
  await page.getByRole('heading', { name: 'Password needed' }).waitFor();
  await page.getByLabel('Password').fill('a wrong passphrase');
  await page.getByRole('button', { name: 'Show the page' }).click();
  await page.getByText('This is not the password of the link.').waitFor();
  await expectAccessible(page);
  await page.getByLabel('Password').fill(password);
  await page.getByRole('button', { name: 'Show the page' }).click();
  await expectTiles(page, await countYear());
  expect(await context.storageState()).toEqual({ cookies: [], origins: [] });
  await page.reload();
  await page.getByRole('heading', { name: 'Password needed' }).waitFor();
});

test('a link that does not work says so', async () => {
  const path = `/share/${'x'.repeat(43)}`;
  const { page, troubles } = await openAsVisitor('/sign-in');
  troubles.expect(`GET ${path}: 404`, `GET ${path.replace('/share/', '/api/shared/')}: 404`);
  expect((await page.goto(path))?.status()).toBe(404);
  await page.getByRole('heading', { name: 'This link does not work' }).waitFor();
  await expectAccessibleEverywhere(page);
});

test('a page of a named origin can embed a link, with a password too, and a page of another cannot', async () => {
  const { server } = shared();
  let token = '';
  const host = () =>
    startHttpServer((_request, response) => {
      response.setHeader('content-type', 'text/html');
      response.end(
        `<!doctype html><title>Host</title><iframe width="900" height="900" src="${server.url}/share/${token}?show=numbers&theme=dark&${year}"></iframe>`,
      );
    });
  const [named, other] = [await host(), await host()].map((url) => url.replace('127.0.0.1', 'localhost'));
  ({ token } = await share({ password, origins: [named] }));
  const { page, troubles } = await openAsVisitor('/sign-in');
  troubles.expect(`GET /api/shared/${token}: 401`);
  await page.goto(named ?? '');
  const frame = page.frameLocator('iframe');
  await frame.getByLabel('Password').fill(password);
  await frame.getByRole('button', { name: 'Show the page' }).click();
  const { total } = await countYear();
  await expect
    .poll(
      async () => (await frame.locator('.tile-number').first().innerText()).replaceAll(/\D/g, ''),
      patience,
    )
    .toBe(String(total));
  expect(await frame.locator('html').getAttribute('data-theme')).toBe('dark');
  expect(
    await frame
      .getByRole('slider')
      .or(frame.getByRole('button', { name: /^Range:/ }))
      .count(),
  ).toBe(0);

  const refusal = new Promise<string>((resolve) => {
    page.on('console', (message) => message.text().includes('frame-ancestors') && resolve(message.text()));
  });
  await page.goto(other ?? '');
  troubles.expect(
    `console: ${await refusal}`,
    `GET /share/${token}?show=numbers&theme=dark&${year}: net::ERR_BLOCKED_BY_RESPONSE`,
  );
  expect(await frame.getByRole('heading').count()).toBe(0);
});

test('a visitor and an embedding page read which imported counts the chart moves', async () => {
  const { url, firstRun } = shared().server;
  const days = [1, 2, 3].map((day) => ({
    ...{ source: 'sheet', caller: 'web', count: 40 },
    ...{ start: `2023-05-0${day}T00:00:00Z`, end: `2023-05-0${day + 1}T00:00:00Z` },
  }));
  const imported = await fetch(`${url}/v1/analytics/demo/assistant/imported-counts`, {
    method: 'POST',
    headers: { authorization: `Bearer ${firstRun.admin}`, 'content-type': 'application/json' },
    body: JSON.stringify(days),
  });
  expect(imported.status).toBe(200);
  const { token } = await share();
  for (const show of ['', '&show=chart']) {
    const all = `/share/${token}?from=2023-05-01&to=2023-06-30&interval=day&zone=Europe/Berlin${show}`;
    const { page } = await openAsVisitor(all);
    await page
      .getByText(/begin in one day of this chart .* all of their 120 queries of .*May 2023/)
      .waitFor();
    await page.goto(all.replace('Europe/Berlin', 'UTC'));
    await page.getByRole('slider', { name: 'Queries per day' }).waitFor();
    await page.waitForLoadState('networkidle');
    expect(await page.getByText('counted at the start of their span').count()).toBe(0);
  }
  const { page } = await openAsVisitor(
    `/share/${token}?from=2023-05-01&to=2023-06-30&zone=Europe/Berlin&show=numbers`,
  );
  await expect.poll(() => page.locator('.tile').count(), patience).toBe(4);
  await page.waitForLoadState('networkidle');
  expect(await page.getByText('counted at the start of their span').count()).toBe(0);
});
