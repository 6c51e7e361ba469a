/** Passkeys with Chromium's virtual authenticator: added, used alone and after the password, and removed. */
import type { CDPSession, Page } from 'playwright-core';
import { expect, test } from 'vitest';
import { expectAccessible } from '../support/browser/accessible.js';
import { onSqlite } from '../support/browser/dashboard-server.js';
import { ada, type Person, person } from '../support/browser/dashboard-user.js';
import { dashboardVisits, startSetUp } from '../support/browser/dashboard-visit.js';
import { patience } from '../support/browser/overview.js';
import { sharedByTests } from '../support/cleanup.js';

const open = dashboardVisits();

const shared = sharedByTests(startSetUp(onSqlite));

/** A device that verifies its user, and presses its own button unless it is told not to. */
async function addAuthenticator(page: Page): Promise<{ readonly cdp: CDPSession; readonly id: string }> {
  const cdp = await page.context().newCDPSession(page);
  await cdp.send('WebAuthn.enable', {});
  const { authenticatorId: id } = await cdp.send('WebAuthn.addVirtualAuthenticator', {
    options: {
      protocol: 'ctap2',
      transport: 'internal',
      hasResidentKey: true,
      hasUserVerification: true,
      isUserVerified: true,
      automaticPresenceSimulation: true,
    },
  });
  return { cdp, id };
}

test('a passkey is added, signs in alone and after the password, and is refused once it is removed', async () => {
  const { server, session } = shared();
  const grace = person('Grace');
  await session.bring(grace, 'viewer');
  // Browsers have passkeys for names, not for addresses.
  const local = { ...server, url: server.url.replace('127.0.0.1', 'localhost') };
  const { page, troubles } = await open({ server: local, session: null }, '/sign-in?to=/account');
  const { cdp, id } = await addAuthenticator(page);
  await signIn(page, ada);
  const section = page.getByRole('region', { name: 'Passkeys' });
  await section.getByText('You have no passkeys.').waitFor();

  await section.getByRole('button', { name: 'Add passkey…' }).click();
  const dialog = page.getByRole('dialog', { name: 'Add passkey' });
  troubles.expect('POST /api/account/passkeys/start: 401');
  await dialog.getByLabel('Your password').fill('not the right one');
  await dialog.getByRole('button', { name: 'Continue' }).click();
  await dialog.getByText('The password is wrong.').waitFor();
  await expectAccessible(page);
  await dialog.getByLabel('Your password').fill(ada.password);
  await dialog.getByRole('button', { name: 'Continue' }).click();
  const create = page.getByRole('dialog', { name: 'Create passkey' });
  await create.getByLabel('Name').fill('Work laptop');
  await expectAccessible(page);
  await create.getByRole('button', { name: 'Create passkey' }).click();
  await section.getByText('not used yet').waitFor();
  await expectAccessible(page);

  // Without the password. The button of the device is not pressed for the offer in the field.
  await cdp.send('WebAuthn.setAutomaticPresenceSimulation', { authenticatorId: id, enabled: false });
  await signOut(page);
  const button = page.getByRole('button', { name: 'Sign in with a passkey' });
  await button.waitFor();
  await expectAccessible(page);
  await cdp.send('WebAuthn.setAutomaticPresenceSimulation', { authenticatorId: id, enabled: true });
  await button.click();
  await page.getByRole('button', { name: 'Account menu' }).waitFor();

  // As the second factor.
  await cdp.send('WebAuthn.setAutomaticPresenceSimulation', { authenticatorId: id, enabled: false });
  await signOut(page);
  await signIn(page, ada);
  await page.getByText('Confirm with your passkey that it is you.').waitFor();
  await expectAccessible(page);
  await cdp.send('WebAuthn.setAutomaticPresenceSimulation', { authenticatorId: id, enabled: true });
  await page.getByRole('button', { name: 'Use passkey' }).click();
  await page.getByRole('button', { name: 'Account menu' }).waitFor();

  // Required of all members, it comes before everything else.
  await page.goto('/members');
  const rule = page.getByRole('region', { name: 'Two-factor authentication' });
  await rule.getByRole('button', { name: 'Require of all members…' }).click();
  await page.getByText('One member does not have it yet.').waitFor();
  await page.getByRole('dialog').getByRole('button', { name: 'Require', exact: true }).click();
  await rule.getByText('Required', { exact: true }).waitFor();
  await expectAccessible(page);
  const member = await open({ server: local, session: null }, '/sign-in?to=/members');
  await addAuthenticator(member.page);
  await signIn(member.page, grace);
  await member.page.getByRole('heading', { name: 'Set up two-factor authentication' }).waitFor();
  await member.page.getByText('You have no passkeys.').waitFor();
  expect(await member.page.getByRole('button', { name: 'Sign out' }).isVisible()).toBe(true);
  await expectAccessible(member.page);
  await member.page.getByRole('button', { name: 'Add passkey…' }).click();
  await member.page.getByLabel('Your password').fill(grace.password);
  await member.page.getByRole('button', { name: 'Continue' }).click();
  await member.page.getByRole('button', { name: 'Create passkey' }).click();
  await member.page.getByRole('heading', { name: 'Members' }).waitFor();
  await rule.getByRole('button', { name: 'Make optional…' }).click();
  await page.getByRole('dialog').getByRole('button', { name: 'Make optional' }).click();
  await rule.getByText('Optional', { exact: true }).waitFor();

  await page.goto('/account');
  await section.getByText(/last used/).waitFor();
  await section.getByRole('button', { name: /^Remove/ }).click();
  await page.getByRole('dialog').getByText('Your browser then asks for your passkey.').waitFor();
  await expectAccessible(page);
  await page.getByRole('dialog').getByLabel('Your password').fill(ada.password);
  await page.getByRole('dialog').getByRole('button', { name: 'Remove passkey' }).click();
  await section.getByText('You have no passkeys.').waitFor();
  await cdp.send('WebAuthn.setAutomaticPresenceSimulation', { authenticatorId: id, enabled: false });
  await signOut(page);
  await button.waitFor();
  await cdp.send('WebAuthn.setAutomaticPresenceSimulation', { authenticatorId: id, enabled: true });
  troubles.expect('POST /api/sign-in/passkey: 401');
  await button.click();
  await page.getByText('The passkey was not accepted.').waitFor();
  await signIn(page, ada);
  await page.getByRole('button', { name: 'Account menu' }).waitFor();
  expect(await page.getByText('Confirm with your passkey').count()).toBe(0);
});

async function signOut(page: Page): Promise<void> {
  // Requests that are still under way would be refused: this page sends none once all of it is shown.
  await page.goto('/account');
  await page.getByRole('region', { name: 'Passkeys' }).waitFor();
  await expect.poll(() => page.locator('[aria-busy=true]').count(), patience).toBe(0);
  await page.getByRole('button', { name: 'Account menu' }).click();
  await page.getByRole('menuitem', { name: 'Sign out' }).click();
  await page.getByRole('heading', { name: 'Sign in' }).waitFor();
}

async function signIn(page: Page, { email, password }: Person): Promise<void> {
  await page.getByLabel('E-mail').fill(email);
  await page.getByLabel('Password').fill(password);
  await page.getByRole('button', { name: 'Sign in', exact: true }).click();
}
