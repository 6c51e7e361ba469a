/** Keys that are created, used and revoked in the dashboard, and how the API responds to them. */
import type { Page } from 'playwright-core';
import { describe, expect, test } from 'vitest';
import { type DashboardServer, dashboardStarters } from '../support/browser/dashboard-server.js';
import type { Session } from '../support/browser/dashboard-user.js';
import { dashboardVisits, startSetUp } from '../support/browser/dashboard-visit.js';
import { patience, pollSeconds, tilesOf } from '../support/browser/overview.js';
import { sharedByTests } from '../support/cleanup.js';
import { clientOf } from '../support/cli/cli-client.js';

const open = dashboardVisits();

describe.each(dashboardStarters)('on %s', (_kind, start) => {
  const shared = sharedByTests(startSetUp(start));

  test('a secret is shown once and stored nowhere', async () => {
    const { page } = await open(shared(), '/projects/demo/keys');
    const addresses: string[] = [];
    page.on('request', (request) => addresses.push(request.url()));
    page.on('framenavigated', (frame) => addresses.push(frame.url()));
    await beginKey(page, 'Reader', 'Admin');
    const secret = await shownSecret(page);
    expect(secret).toMatch(/^cs_admin_[0-9A-Za-z]{49}$/);
    const dialog = page.getByRole('dialog', { name: 'Your new key' });
    // Neither Escape, pressed twice, nor a click outside closes the dialog.
    for (const key of ['Escape', 'Escape']) await page.keyboard.press(key);
    await page.mouse.click(3, 3);
    expect(await shownSecret(page)).toBe(secret);
    expect(await dialog.getByRole('button', { name: 'Done' }).isDisabled()).toBe(true);
    await finishKey(page);

    expect(await page.content()).not.toContain(secret);
    const stored = await page.evaluate(
      'JSON.stringify([{ ...localStorage }, { ...sessionStorage }, history.state, document.cookie])',
    );
    expect(stored).not.toContain(secret);
    expect(addresses.join('\n')).not.toContain(secret);
    await page.reload();
    await page.getByRole('row', { name: /Reader/ }).waitFor();
    expect(await page.content()).not.toContain(secret);
  });

  test('an admin key reads counts until it is revoked, which requires typing its name', async () => {
    const { server, session } = shared();
    const { page } = await open(shared(), '/projects/demo/keys');
    const secret = await makeKey(page, 'Exporter', 'Admin');
    const read = () => readStatus(server, secret);
    expect(await read()).toBe(200);

    await choose(page, 'Exporter', 'Disable');
    await page.getByText('Exporter is disabled').waitFor();
    await choose(page, 'Exporter', 'Enable');
    await page.getByText('Exporter is enabled').waitFor();

    await expect.poll(() => lastUse(session, 'Exporter'), patience).not.toBeNull();
    await page.reload();
    await choose(page, 'Exporter', 'Revoke…');
    const dialog = page.getByRole('dialog', { name: 'Revoke Exporter?' });
    const revoke = dialog.getByRole('button', { name: 'Revoke key' });
    await dialog.getByRole('textbox').fill('exporter');
    expect(await revoke.isDisabled()).toBe(true);
    await dialog.getByRole('button', { name: 'Cancel' }).click();
    expect(await read()).toBe(200);

    await choose(page, 'Exporter', 'Revoke…');
    await dialog.getByRole('textbox').fill('Exporter');
    await revoke.click();
    await page.getByText('Exporter is revoked').waitFor();
    expect(await read()).toBe(401);
    await page.getByText(/^Expired and revoked \(\d+\)$/).click();
    const gone = page.getByRole('table', { name: 'Expired and revoked keys' });
    await gone.getByRole('row', { name: /Exporter.*Revoked/ }).waitFor();
    expect(await page.getByRole('button', { name: 'Actions for Exporter' }).count()).toBe(0);
  });

  test('a reading key reads, a recording key records, and the open page updates its total', async () => {
    const { server } = shared();
    const { page } = await open(shared(), '/projects/demo/keys');
    const secret = await makeKey(page, 'Assistant', 'Recording');
    const reading = await makeKey(page, 'Grafana', 'Reading');
    expect(reading).toMatch(/^cs_reading_/);
    expect(await readStatus(server, reading)).toBe(200);
    await page.getByRole('row', { name: /^Grafana .*Reading/ }).waitFor();
    await page.clock.install();
    await page.goto('/projects/demo?period=all&zone=UTC');
    await expect.poll(() => tilesOf(page), patience).toBeDefined();
    const before = await tilesOf(page);
    expect(await recordStatus(server, secret, [{ id: 'one', caller: 'slack' }])).toBe(200);
    const after = { ...before, other: (before?.other ?? 0) + 1, total: (before?.total ?? 0) + 1 };
    await pollSeconds(page, () => tilesOf(page)).toEqual(after);
  });

  test('without a grace period a rotated key ends at once and its successor works', async () => {
    const { server } = shared();
    const { page } = await open(shared(), '/projects/demo/keys');
    const first = await makeKey(page, 'Turning', 'Admin');
    await choose(page, 'Turning', 'Rotate…');
    const dialog = page.getByRole('dialog', { name: 'Rotate Turning' });
    await dialog.getByLabel('Grace period').selectOption('None: the old key ends at once');
    await dialog.getByRole('button', { name: 'Rotate key' }).click();
    const second = await shownSecret(page);
    await finishKey(page);
    expect(second).not.toBe(first);
    expect(await readStatus(server, first)).toBe(401);
    expect(await readStatus(server, second)).toBe(200);
    await page.getByRole('row', { name: new RegExp(`Turning.*${second.slice(-4)}`) }).waitFor();

    await choose(page, 'Turning', 'Rotate…');
    await dialog.getByLabel('Grace period').selectOption('1 hour');
    await dialog.getByRole('button', { name: 'Rotate key' }).click();
    const third = await shownSecret(page);
    await finishKey(page);
    for (const key of [second, third]) expect(await readStatus(server, key)).toBe(200);
    await page.getByRole('row', { name: /Turning Being replaced/ }).waitFor();
  });

  test('errors are shown at their field, and the input is kept', async () => {
    const { page, troubles } = await open(shared(), '/projects/demo/keys');
    const dialog = await beginForm(page, 'Office', 'Admin');
    await dialog.getByLabel('Allowed addresses').fill('192.0.2.0/24\n0.0.0.0/0');
    troubles.expect('POST /api/organizations/default/keys: 400');
    await dialog.getByRole('button', { name: 'Create key' }).click();
    await dialog.getByRole('textbox', { name: /^Allowed addresses/, description: /0\.0\.0\.0\/0/ }).waitFor();
    expect(await dialog.getByLabel('Name').inputValue()).toBe('Office');
    await dialog.getByLabel('Allowed addresses').fill('192.0.2.0/24');
    await dialog.getByRole('button', { name: 'Create key' }).click();
    await finishKey(page);
    await page.getByRole('row', { name: /Office.*from 192\.0\.2\.0\/24/ }).waitFor();
  });
});

/** Opens the dialog and fills it in. */
async function beginForm(page: Page, name: string, type: 'Admin' | 'Reading' | 'Recording') {
  await page.getByRole('button', { name: 'Create a key' }).click();
  const dialog = page.getByRole('dialog', { name: 'Create a key' });
  await dialog.getByLabel('Name').fill(name);
  await dialog.getByRole('radio', { name: type }).check();
  const box = await dialog.getByRole('button', { name: 'Create key' }).boundingBox();
  expect((box?.y ?? 0) + (box?.height ?? 0)).toBeLessThan(page.viewportSize()?.height ?? 0);
  return dialog;
}

async function beginKey(page: Page, name: string, type: 'Admin' | 'Reading' | 'Recording'): Promise<void> {
  const dialog = await beginForm(page, name, type);
  await dialog.getByRole('button', { name: 'Create key' }).click();
}

function shownSecret(page: Page): Promise<string> {
  return page.locator('dialog .once code').innerText();
}

/** Confirms that the secret is stored, and closes the dialog. */
async function finishKey(page: Page): Promise<void> {
  await page.getByLabel('I have stored the key').check();
  await page.getByRole('button', { name: 'Done' }).click();
  await page.getByRole('dialog').waitFor({ state: 'detached' });
}

async function makeKey(page: Page, name: string, type: 'Admin' | 'Reading' | 'Recording'): Promise<string> {
  await beginKey(page, name, type);
  const secret = await shownSecret(page);
  await finishKey(page);
  return secret;
}

/** Opens the menu of the newest key with a name. */
async function choose(page: Page, name: string, action: string): Promise<void> {
  await page
    .getByRole('button', { name: `Actions for ${name}` })
    .first()
    .click();
  await page.getByRole('menuitem', { name: action }).click();
}

/** The API's statuses for reading and for recording with a key. */
const readStatus = async (server: DashboardServer, key: string) =>
  (await clientOf(server, 'demo', key).count()).status;
const recordStatus = async (server: DashboardServer, key: string, queries: readonly object[]) =>
  (await clientOf(server, 'demo', key).record(queries)).status;

async function lastUse(session: Session, name: string): Promise<string | null | undefined> {
  const { keys } = await session.ask<{ keys: { name: string; lastUsedAt: string | null }[] }>(
    'GET',
    `${await session.organization()}/keys`,
  );
  return keys.find((key) => key.name === name)?.lastUsedAt;
}
