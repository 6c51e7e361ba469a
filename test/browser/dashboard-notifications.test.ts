/** Digests and alerts in the settings of a project: added, tested, changed and deleted. */
import { Webhook } from 'standardwebhooks';
import { expect, test } from 'vitest';
import { expectAccessible, expectAccessibleEverywhere } from '../support/browser/accessible.js';
import { onSqlite } from '../support/browser/dashboard-server.js';
import { dashboardVisits, startSetUp } from '../support/browser/dashboard-visit.js';
import { sharedByTests } from '../support/cleanup.js';
import { loopback, startReceiver } from '../support/http/receivers.js';

const open = dashboardVisits();
const shared = sharedByTests(startSetUp(onSqlite, ['--notification-networks', loopback.join()]));
const list = '/api/organizations/default/projects/demo/notifications';

test('an owner adds a webhook, tests it, changes it and deletes it', async () => {
  const { url, received } = await startReceiver();
  const { page, troubles } = await open(shared(), '/projects/demo/settings');
  troubles.expect(`POST ${list}: 400`);
  await page.getByText('This project sends no messages.').waitFor();
  await page.getByRole('button', { name: 'Add notification…' }).click();
  const dialog = page.getByRole('dialog');
  // Each message begins with its own numbers.
  await dialog.getByLabel('Message').selectOption('silence');
  await dialog.getByLabel('Message').selectOption('spike');
  expect(await dialog.getByLabel('Times the usual').inputValue()).toBe('3');
  await dialog.getByLabel('Times the usual').fill('5');
  // The server sends no e-mail.
  expect(await dialog.getByLabel('Send by').locator('option').allTextContents()).toEqual([
    'Webhook',
    'Slack',
    'Microsoft Teams',
    'Discord',
    'E-mail (the server needs CALLER_STATS_SMTP_URL)',
  ]);
  expect(await dialog.getByLabel('Send by').locator('option:disabled').count()).toBe(1);
  await expectAccessible(page);
  await dialog.getByLabel('Address of the webhook').fill('ftp://example.org');
  await dialog.getByRole('button', { name: 'Add notification' }).click();
  await dialog.getByText('is not an address that begins with https://').waitFor();
  await dialog.getByLabel('Address of the webhook').fill(`${url}/secret-path`);
  await dialog.getByRole('button', { name: 'Add notification' }).click();
  await page.getByRole('dialog', { name: 'Secret of the webhook' }).waitFor();
  const secret = await dialog.locator('.once code').innerText();
  await expectAccessible(page);
  await dialog.getByRole('button', { name: 'Done' }).click();

  const { host } = new URL(url);
  const row = page.getByRole('listitem').filter({ hasText: '5 times the usual' });
  expect(await row.innerText()).toContain(`Webhook: ${host}`);
  expect(await page.content()).not.toContain('secret-path');
  await row.getByRole('button', { name: /^Actions for 5 times the usual/ }).click();
  await page.getByRole('menuitem', { name: 'Send test message' }).click();
  await page.getByText('The test message was accepted').waitFor();
  const [message] = received;
  const headers = message?.headers as Record<string, string>;
  expect(new Webhook(secret).verify(message?.body ?? '', headers)).toMatchObject({ type: 'test' });

  await row.getByRole('button', { name: /^Actions/ }).click();
  await page.getByRole('menuitem', { name: 'Change…' }).click();
  await dialog.getByText(`Leave it empty to keep ${host}.`).waitFor();
  await dialog.getByLabel('Message').selectOption('silence');
  await dialog.getByLabel('Hours without a query').fill('6');
  await dialog.getByRole('button', { name: 'Save notification' }).click();
  const changed = page.getByRole('listitem').filter({ hasText: 'Nothing recorded for 6 hours' });
  await changed.waitFor();
  await expectAccessibleEverywhere(page);
  await changed.getByRole('button', { name: /^Actions/ }).click();
  await page.getByRole('menuitem', { name: 'Delete…' }).click();
  await dialog.getByRole('button', { name: 'Delete notification' }).click();
  await page.getByText('This project sends no messages.').waitFor();
});
