/** The link on the sign-in page of a server with e-mail, from a forgotten password to the first page. */
import { expect, test } from 'vitest';
import { expectAccessible } from '../support/browser/accessible.js';
import { onSqlite } from '../support/browser/dashboard-server.js';
import { ada } from '../support/browser/dashboard-user.js';
import { dashboardVisits, startSetUp } from '../support/browser/dashboard-visit.js';
import { freePort } from '../support/free-port.js';
import { startMailServer } from '../support/http/receivers.js';

const open = dashboardVisits();

test('somebody who forgot their password sets a new one with a mailed link', async () => {
  const { url, received } = await startMailServer();
  const port = await freePort();
  const args = ['--port', `${port}`, '--public-url', `http://127.0.0.1:${port}`];
  const env = { CALLER_STATS_SMTP_URL: `${url}?from=stats@example.org` };
  const { server } = await startSetUp(onSqlite, args, { env })();
  const { page } = await open({ server, session: null }, '/sign-in');
  await page.getByRole('link', { name: 'Forgot your password?' }).click();
  await page.getByLabel('E-mail').fill(ada.email);
  await page.getByRole('button', { name: 'Send a link' }).click();
  await page.getByText(`If ${ada.email} has an account with a password here`).waitFor();
  await expectAccessible(page);
  // The server looks for the account at a random time.
  await expect.poll(() => received.length).toBe(1);
  expect(received[0]?.to).toEqual([ada.email]);
  const link = /^http\S+\/reset#\S+$/m.exec(received[0]?.source.replaceAll('=\r\n', '') ?? '')?.[0] ?? '';
  await page.goto(link);
  await page.getByRole('textbox', { name: 'New password' }).fill('another long passphrase');
  await page.getByRole('button', { name: 'Set password' }).click();
  await page.getByLabel('E-mail').fill(ada.email);
  await page.getByLabel('Password', { exact: true }).fill('another long passphrase');
  await page.getByRole('button', { name: 'Sign in', exact: true }).click();
  await page.getByRole('slider').waitFor();
});
