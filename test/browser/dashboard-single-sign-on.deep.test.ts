/** Single sign-on in the browser with a local OpenID Connect provider. */
import type { Page } from 'playwright-core';
import { describe, expect, test } from 'vitest';
import { dashboardStarters } from '../support/browser/dashboard-server.js';
import { dashboardVisits, type Place, startSetUp } from '../support/browser/dashboard-visit.js';
import { sharedByTests } from '../support/cleanup.js';
import { freePort } from '../support/free-port.js';
import { type OidcProvider, startOidcProvider } from '../support/users/oidc-provider.js';

const open = dashboardVisits();

const users = [
  { id: 'u1', email: 'ada@example.com', emailVerified: true, name: 'Ada' },
  { id: 'u2', email: 'grace@example.com', emailVerified: true, name: 'Grace' },
  { id: 'u3', email: 'mallory@example.com', emailVerified: true, name: 'Mallory' },
  { id: 'u4', email: 'alan@example.com', emailVerified: false, name: 'Alan' },
];

describe.each(dashboardStarters)('on %s', (_kind, start) => {
  const shared = sharedByTests<Place & { provider: OidcProvider }>(async () => {
    const redirectPath = '/api/sign-in/oidc/callback/sso';
    const provider = await startOidcProvider({ users, redirectPath });
    // The provider needs the redirect URL, and the server the provider's, before it listens.
    const port = await freePort();
    const { issuer, clientId, clientSecret } = provider;
    const args = ['--port', `${port}`, '--public-url', `http://127.0.0.1:${port}`];
    const place = await startSetUp(start, [...args, '--oidc-issuer', issuer, '--oidc-client-id', clientId], {
      env: { CALLER_STATS_OIDC_CLIENT_SECRET: clientSecret },
    })();
    for (const email of ['grace@example.com', 'alan@example.com'])
      await place.session.ask('POST', '/api/organizations/default/invitations', { email, role: 'editor' });
    return { ...place, provider };
  });

  const openSignIn = (path = '/sign-in') => open({ ...shared(), session: null }, path);

  test.each([
    ['without an invitation', 'mallory@example.com', /nobody has invited you here yet/],
    ['with an unverified address', 'alan@example.com', /has not verified your e-mail address/],
  ])('users %s get an explanation', async (_who, email, why) => {
    const { page, context } = await openSignIn();
    await signInAs(page, email);
    await page.getByRole('alert').getByText(why).waitFor();
    expect((await context.request.get('/api/sessions')).status()).toBe(401);
  });

  test('users who cancel return to the sign-in page', async () => {
    const { page } = await openSignIn();
    await page.getByRole('link', { name: 'Continue with single sign-on' }).click();
    await page.getByRole('button', { name: 'Cancel' }).click();
    await page
      .getByRole('alert')
      .getByText(/Single sign-on failed/)
      .waitFor();
    await page.getByRole('link', { name: 'Continue with single sign-on' }).waitFor();
  });

  test('an invited user signs in without the link, reaches the wanted page, and has no password to change', async () => {
    const { page } = await openSignIn('/members');
    await signInAs(page, 'grace@example.com');
    await page.getByRole('row', { name: /Grace.*You/ }).waitFor();
    expect(new URL(page.url()).pathname).toBe('/members');
    await page.goto('/account');
    await page.getByText('there is no password to change here').waitFor();
    // Second factors are for them, too.
    await page.getByRole('button', { name: 'Set up…' }).waitFor();
  });

  test('a member with a password is recognized as the same user, and loses a password that nobody proved to be theirs', async () => {
    const { page } = await openSignIn();
    await signInAs(page, 'ada@example.com');
    await page.getByRole('heading', { name: 'Overview' }).waitFor();
    await page.goto('/members');
    await page.getByRole('row', { name: /Ada.*You/ }).waitFor();
    await page.goto('/account');
    await page.getByText('there is no password to change here').waitFor();
  });
});

async function signInAs(page: Page, email: string): Promise<void> {
  await page.getByRole('link', { name: 'Continue with single sign-on' }).click();
  await page.getByLabel('E-mail').fill(email);
  await page.getByRole('button', { name: 'Sign in' }).click();
}
