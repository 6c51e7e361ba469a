/** The dashboard without a pointer: everything is reachable, and the focus is visible. */
import type { Page } from 'playwright-core';
import { expect, test } from 'vitest';
import { onSqlite } from '../support/browser/dashboard-server.js';
import { ada } from '../support/browser/dashboard-user.js';
import { dashboardVisits, startSetUp } from '../support/browser/dashboard-visit.js';
import { patience } from '../support/browser/overview.js';
import { sharedByTests } from '../support/cleanup.js';

const open = dashboardVisits();
const shared = sharedByTests(async () => {
  const place = await startSetUp(onSqlite)();
  await place.session.ask('POST', '/api/organizations/default/projects', { name: 'Guide', id: 'guide' });
  return place;
});

/** The accessible name of the focused element. */
function focused(page: Page): Promise<string> {
  return page.evaluate<string>(`(() => {
    const at = document.activeElement;
    const label = at.labels?.[0]?.innerText ?? at.getAttribute('aria-label') ?? at.innerText;
    return at === document.body ? '' : label.trim().replaceAll(/\\s+/g, ' ');
  })()`);
}

/** Presses Tab until an element is reached; every stop on the way must have a visible focus. */
async function tabTo(page: Page, name: string): Promise<void> {
  const passed: string[] = [];
  for (let steps = 0; steps < 60; steps++) {
    await page.keyboard.press('Tab');
    const at = await focused(page);
    if (at !== '') expect(await isFocusSeen(page), `${at} shows that it has the focus`).toBe(true);
    if (at === name) return;
    passed.push(at);
  }
  throw new Error(`Tab does not lead to "${name}", only to: ${passed.join('; ')}`);
}

/** Whether the element or one of its ancestors shows an outline or a ring. */
function isFocusSeen(page: Page): Promise<boolean> {
  return page.evaluate<boolean>(`(() => {
    const isMarked = (one) => {
      const { outlineStyle, outlineWidth, boxShadow } = getComputedStyle(one);
      return (outlineStyle !== 'none' && outlineWidth !== '0px') || boxShadow !== 'none';
    };
    const at = document.activeElement;
    return isMarked(at) || isMarked(at.parentElement);
  })()`);
}

test('signing in works, and the first Tab reaches the skip link', async () => {
  const { server } = shared();
  const { page } = await open({ server, session: null }, '/projects/demo/keys');
  await page.getByRole('heading', { name: 'Sign in' }).waitFor();
  await tabTo(page, 'E-mail');
  await page.keyboard.type(ada.email);
  await tabTo(page, 'Password');
  await page.keyboard.type(ada.password);
  await page.keyboard.press('Enter');
  await page.getByRole('heading', { name: 'API keys' }).waitFor();
  await page.reload();
  await page.getByRole('heading', { name: 'API keys' }).waitFor();
  await page.keyboard.press('Tab');
  expect(await focused(page)).toBe('Skip to the page');
  await page.keyboard.press('Enter');
  await tabTo(page, 'Copy project id');
});

test('switching the project stays on the same page', async () => {
  const { page } = await open(shared(), '/projects/demo/settings');
  await page.getByRole('heading', { name: 'Settings' }).waitFor();
  await page.keyboard.press('p');
  const search = page.getByRole('combobox', { name: 'Switch project' });
  await page.locator('[role=combobox]:focus').waitFor();
  await page.keyboard.press('Escape');
  await search.waitFor({ state: 'detached' });
  // Typed without a pause: the field must have the focus before the next key arrives.
  await page.keyboard.press('p');
  await page.keyboard.type('gui');
  await page.keyboard.press('Enter');
  await page.waitForURL('**/projects/guide/settings');
  expect(await page.getByLabel('Project name').inputValue()).toBe('Guide');
});

test('a dialog traps the focus, and Escape restores it', async () => {
  const { page } = await open(shared(), '/projects/demo/keys');
  await page.getByRole('heading', { name: 'API keys' }).waitFor();
  await page.getByRole('button', { name: 'Create a key' }).focus();
  await page.keyboard.press('Enter');
  const dialog = page.getByRole('dialog', { name: 'Create a key' });
  await dialog.waitFor();
  for (let steps = 0; steps < 14; steps++) {
    await page.keyboard.press('Tab');
    expect(
      await page.evaluate(
        'document.activeElement.closest("dialog") !== null || document.activeElement === document.body',
      ),
    ).toBe(true);
  }
  await page.keyboard.press('Escape');
  await dialog.waitFor({ state: 'detached' });
  await expect.poll(() => focused(page), patience).toBe('Create a key');

  const menu = page.getByRole('button', { name: /^Actions for/ }).first();
  const name = (await menu.getAttribute('aria-label')) ?? '';
  await menu.focus();
  await page.keyboard.press('Enter');
  await expect.poll(() => focused(page), patience).toBe('Rotate…');
  await page.keyboard.press('ArrowUp');
  expect(await focused(page)).toBe('Revoke…');
  await page.keyboard.press('Enter');
  const revoke = page.getByRole('dialog', { name: /^Revoke/ });
  await revoke.waitFor();
  await page.keyboard.press('Escape');
  await revoke.waitFor({ state: 'detached' });
  await expect.poll(() => focused(page), patience).toBe(name);
});

test('shortcuts are listed, navigate, do not apply in fields, and can be turned off', async () => {
  const { page } = await open(shared(), '/projects/demo');
  await page.getByRole('heading', { name: 'Overview' }).waitFor();
  await page.keyboard.press('?');
  const help = page.getByRole('dialog', { name: 'Keyboard shortcuts' });
  await help.waitFor();
  await page.keyboard.press('Escape');
  await help.waitFor({ state: 'detached' });
  for (const [key, heading] of [
    ['k', 'API keys'],
    ['s', 'Settings'],
    ['m', 'Members'],
    ['l', 'Audit log'],
    ['a', 'Your account'],
    ['o', 'Overview'],
  ] as const) {
    await page.keyboard.press('g');
    await page.keyboard.press(key);
    await page.getByRole('heading', { name: heading, exact: true, level: 1 }).waitFor();
    // Navigation moves the focus to the heading of the page.
    expect(await focused(page)).toBe(heading);
  }
  await page.goto('/account');
  await page.getByLabel('Your name').fill('');
  await page.getByLabel('Your name').pressSequentially('gk?');
  expect(await page.getByLabel('Your name').inputValue()).toBe('gk?');
  await page.getByRole('heading', { name: 'Your account' }).focus();
  await page.keyboard.press('?');
  await help.getByLabel('Use keyboard shortcuts').uncheck();
  await page.keyboard.press('Escape');
  await page.keyboard.press('g');
  await page.keyboard.press('k');
  await page.keyboard.press('?');
  expect(await help.count()).toBe(0);
  expect(new URL(page.url()).pathname).toBe('/account');
});

test('the chart has a cursor that announces each bar', async () => {
  const { page } = await open(shared(), '/projects/demo?from=2025-01-01&to=2025-12-31&zone=UTC');
  const chart = page.getByRole('slider', { name: 'Queries per month' });
  await chart.focus();
  expect(await chart.getAttribute('aria-valuetext')).toMatch(/^December 2025: [\d,]+\. Web [\d,]+, API/);
  await page.keyboard.press('Home');
  expect(await chart.getAttribute('aria-valuetext')).toMatch(/^January 2025: /);
  await page.keyboard.press('Enter');
  await page.getByRole('slider', { name: 'Queries per day' }).waitFor();
  expect(new URL(page.url()).searchParams.get('to')).toBe('2025-01-31');
});
