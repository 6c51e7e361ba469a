/** What the table of OWASP ASVS says of every page: where people sign out, what the browser keeps, and how passwords are typed. */
import type { Page } from 'playwright-core';
import { expect, test } from 'vitest';
import { onSqlite } from '../support/browser/dashboard-server.js';
import { ada, person } from '../support/browser/dashboard-user.js';
import { dashboardVisits, startSetUp } from '../support/browser/dashboard-visit.js';
import { patience } from '../support/browser/overview.js';
import { sharedByTests } from '../support/cleanup.js';
import { read } from '../tidy/sources.js';

const open = dashboardVisits();

const shared = sharedByTests(startSetUp(onSqlite));

/** The paths of one of the lists in `pages.ts`. */
function pathsOf(list: 'PROJECT_PAGES' | 'MEMBER_PAGES'): string[] {
  const { text } = read('dashboard/src/pages.ts');
  const [, pages = ''] = text.split(`export const ${list}`);
  const [own = ''] = pages.split('\n];');
  return [...own.matchAll(/'(\/[^']*)'/g)].map(([, path = '']) => path.replace(':id', 'demo'));
}

/** Waits until the page shows all that it reads. */
async function settle(page: Page): Promise<void> {
  await page.getByRole('heading', { level: 1 }).waitFor();
  await expect.poll(() => page.locator('[aria-busy=true]').count(), patience).toBe(0);
  await page.waitForLoadState('networkidle');
}

/** Everything except cookies that the browser keeps for the pages. */
function storedIn(page: Page) {
  return page.evaluate(
    `Promise.all([indexedDB.databases(), caches.keys()]).then(([databases, kept]) => ({
      local: { ...localStorage }, session: { ...sessionStorage }, databases, kept, cookies: document.cookie }))`,
  );
}

test('every page that needs a session lets people sign out, and the browser keeps only preferences', async () => {
  const { server, session } = shared();
  await session.bring(person('Grace'), 'viewer');
  const { page, context, troubles } = await open({ server, session: null }, '/sign-in');
  await page.getByLabel('E-mail').fill(ada.email);
  await page.getByLabel('Password').fill(ada.password);
  await page.getByRole('button', { name: 'Sign in', exact: true }).click();
  await settle(page);
  // A request for an application and a page that do not exist.
  troubles.expect('POST /api/applications/look-up: 400', 'GET /no-such-page: 404');
  const paths = [...pathsOf('PROJECT_PAGES'), ...pathsOf('MEMBER_PAGES'), '/no-such-page'];
  expect(paths.length).toBeGreaterThan(12);
  for (const path of paths) {
    await page.goto(path);
    await settle(page);
    for (const width of [1440, 320]) {
      await page.setViewportSize({ width, height: 800 });
      await page.getByRole('button', { name: 'Account menu' }).click();
      await page.getByRole('menuitem', { name: 'Sign out' }).waitFor();
      await page.keyboard.press('Escape');
    }
  }
  await page.goto('/docs/');
  await page.waitForLoadState('networkidle');
  const stored = {
    local: {
      'caller-stats.organization': 'default',
      'caller-stats.project': 'demo',
      'vitepress-theme-appearance': 'auto',
    },
    ...{ session: {}, databases: [], kept: [], cookies: '' },
  };
  expect(await storedIn(page)).toEqual(stored);
  for (const { name, value, httpOnly } of await context.cookies()) {
    expect({ name, httpOnly }).toEqual({ name, httpOnly: true });
    const texts = [value, ...value.split('.').map((part) => Buffer.from(part, 'base64').toString('latin1'))];
    expect(texts.filter((text) => /ada|example|default/i.test(text))).toEqual([]);
  }
  await page.goto('/account');
  await settle(page);
  await page.getByRole('button', { name: 'Account menu' }).click();
  await page.getByRole('menuitem', { name: 'Sign out' }).click();
  await page.getByRole('heading', { name: 'Sign in' }).waitFor();
  expect(await storedIn(page)).toEqual(stored);
  expect((await context.cookies()).map(({ name }) => name)).toEqual(['caller-stats.device']);
});

test('passwords are masked, pasted whole, and left to password managers, wherever they are typed', async () => {
  const { server, session } = shared();
  const project = '/api/organizations/default/projects/demo';
  const { token } = await session.ask<{ token: string }>('POST', `${project}/share-links`, {
    ...{ name: 'Board', expires: '7d', password: ada.password },
  });
  const invitation = await session.ask<{ token: string }>('POST', '/api/organizations/default/invitations', {
    ...{ email: 'alan@example.com', role: 'viewer' },
  });
  const { setUpUrl, url } = await onSqlite();
  const atSetUp = await open({ server: { ...server, url }, session: null }, new URL(setUpUrl).href);
  const visitor = await open({ server, session: null }, '/sign-in');
  const user = await open(shared(), '/account');
  visitor.troubles.expect(`GET /api/shared/${token}: 401`);
  const press = (name: string) => (page: Page) => page.getByRole('button', { name }).click();
  for (const [{ page, context }, path, act, purposes] of [
    [atSetUp, null, null, ['new']],
    [visitor, '/sign-in', null, ['current']],
    [visitor, '/reset#token', null, ['new']],
    [visitor, `/join#${invitation.token}`, null, ['new']],
    [visitor, `/share/${token}`, null, ['current']],
    [user, '/account', null, ['current', 'new']],
    [
      user,
      '/account',
      async (one: Page) => {
        await press('Set up…')(one);
        await one.getByLabel('Your password').waitFor();
      },
      ['current', 'new', 'current'],
    ],
    [
      user,
      '/projects/demo/settings',
      async (one: Page) => {
        await press('Create share link…')(one);
        await one.getByLabel('Require a password').check();
      },
      ['new'],
    ],
  ] as const) {
    await context.grantPermissions(['clipboard-read', 'clipboard-write']);
    if (path !== null) await page.goto(path);
    await settle(page);
    await act?.(page);
    const fields = page.locator('input[name*=assword]');
    await fields.last().waitFor();
    const found = await fields.evaluateAll((all) =>
      (all as Field[]).map((field) => [field.type, field.autocomplete]),
    );
    expect(found, String(path)).toEqual(purposes.map((one) => ['password', `${one}-password`]));
    // Longer than any password: the server says so, rather than keeping the beginning.
    const pasted = 'a pasted password '.repeat(10);
    await page.evaluate(`navigator.clipboard.writeText('${pasted}')`);
    await fields.last().focus();
    await page.keyboard.press('ControlOrMeta+V');
    expect(await fields.last().inputValue(), String(path)).toBe(pasted);
  }
});

/** The used properties of a field; tests are compiled without the types of browsers. */
interface Field {
  readonly type: string;
  readonly autocomplete: string;
}
