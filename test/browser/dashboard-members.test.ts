/** Members join, change roles and leave, each in their own browser. */
import { describe, expect, test } from 'vitest';
import { dashboardStarters } from '../support/browser/dashboard-server.js';
import { ada, person } from '../support/browser/dashboard-user.js';
import { dashboardVisits, startSetUp } from '../support/browser/dashboard-visit.js';
import { sharedByTests } from '../support/cleanup.js';

const open = dashboardVisits();

/** Controls that change something, by page. */
const controls = [
  ['/projects/demo/keys', 'Create a key'],
  ['/projects/demo/keys', /^Actions for/],
  ['/members', 'Invite member'],
  ['/members', /^Remove/],
] as const;

describe.each(dashboardStarters)('on %s', (_kind, start) => {
  const shared = sharedByTests(startSetUp(start));

  test('an owner invites a viewer, who joins once and cannot change anything', async () => {
    const { server } = shared();
    const grace = person('Grace');
    const owner = await open(shared(), '/members');
    await owner.page.getByRole('button', { name: 'Invite member' }).click();
    const form = owner.page.getByRole('dialog');
    await form.getByLabel('E-mail').fill(grace.email);
    await form.getByLabel('Role').selectOption('Viewer');
    await form.getByRole('button', { name: 'Create invitation' }).click();
    const link = await owner.page.locator('dialog .once code').innerText();
    await owner.page.getByRole('button', { name: 'Done' }).click();
    await owner.page.getByRole('row', { name: new RegExp(grace.email) }).waitFor();
    expect(await owner.page.content()).not.toContain(new URL(link).hash.slice(1));

    const guest = await open({ server, session: null }, link);
    await guest.page.getByText(`${ada.email} invites ${grace.email} as a viewer.`).waitFor();
    expect(guest.page.url()).toBe(`${server.url}/join`);
    await guest.page.getByLabel('Name').fill(grace.name);
    await guest.page.getByLabel('Password', { exact: true }).fill(grace.password);
    await guest.page.getByRole('button', { name: /^Join/ }).click();
    await guest.page.getByRole('heading', { name: 'Overview' }).waitFor();

    const late = await open({ server, session: null }, '/livez');
    late.troubles.expect('POST /api/invitations/look-up: 404');
    await late.page.goto(link);
    await late.page.getByRole('heading', { name: 'This invitation does not work' }).waitFor();

    for (const [path, name] of controls) {
      await guest.page.goto(path);
      await guest.page.getByText(/^You are a viewer here|^Only owners/).waitFor();
      expect(await guest.page.getByRole('button', { name }).count(), `${name} on ${path}`).toBe(0);
    }
    await guest.page.goto('/projects/demo/settings');
    for (const name of ['Project name', 'Project time zone', 'Forever', 'Rules'])
      expect(await guest.page.getByLabel(name, { exact: true }).isDisabled(), name).toBe(true);
    const dangerZone = guest.page.getByRole('region', { name: 'Danger zone' });
    expect(await dangerZone.getByRole('button', { name: 'Delete project…' }).isDisabled()).toBe(true);
    await guest.page.goto('/new-project');
    await guest.page.getByText('Viewers cannot create projects.').waitFor();

    // The server refuses requests that bypass the page.
    const headers = { origin: server.url };
    for (const [method, path, data] of [
      ['POST', 'projects', { name: 'Mine' }],
      ['DELETE', 'projects/demo', { name: 'demo' }],
      ['POST', 'keys', { name: 'Mine', type: 'admin', expires: '7d' }],
      ['POST', 'invitations', { email: 'eve@example.com', role: 'owner' }],
      ['PATCH', `members/${grace.email}`, { role: 'owner' }],
    ] as const) {
      const answer = await guest.context.request.fetch(`/api/organizations/default/${path}`, {
        method,
        headers,
        data,
      });
      expect(answer.status(), `${method} ${path}`).toBe(403);
    }
  });

  test('a new role gives access to what was refused before', async () => {
    const alan = person('Alan');
    const { server, session } = shared();
    const guest = await open({ server, session: await session.bring(alan, 'viewer') }, '/projects/demo/keys');
    await guest.page.getByText('You are a viewer here').waitFor();
    const owner = await open(shared(), '/members');
    await owner.page.getByLabel(`Role of ${alan.email}`).selectOption('Editor');
    await owner.page.getByText(`${alan.email} is now editor`).waitFor();
    await guest.page.reload();
    await guest.page.getByRole('button', { name: 'Create a key' }).waitFor();
    await guest.page.goto('/members');
    await guest.page.getByText('Only owners invite people').waitFor();
    expect(await guest.page.getByRole('button', { name: 'Invite member' }).count()).toBe(0);

    await owner.page.getByRole('button', { name: `End all sessions of ${alan.email}` }).click();
    await owner.page.getByRole('button', { name: 'End all sessions', exact: true }).click();
    await owner.page.getByText(`${alan.email} is signed out everywhere`).waitFor();
    await guest.page.goto('/members');
    await guest.page.getByRole('heading', { name: 'Sign in' }).waitFor();
  });

  test('a reader sees the chosen projects, and no page of the organization', async () => {
    const { server, session } = shared();
    await session.ask('POST', '/api/organizations/default/projects', { name: 'Chosen', id: 'chosen' });
    const owner = await open(shared(), '/members');
    await owner.page.getByRole('button', { name: 'Invite member' }).click();
    const dialog = owner.page.getByRole('dialog');
    await dialog.getByLabel('E-mail').fill('margaret@example.com');
    await dialog.getByLabel('Role').selectOption('Reader');
    await dialog.getByRole('button', { name: 'Create invitation' }).click();
    await dialog.getByText('a reader needs at least one project').waitFor();
    owner.troubles.expect('POST /api/organizations/default/invitations: 400');
    await dialog.getByLabel('Chosen').check();
    await dialog.getByRole('button', { name: 'Create invitation' }).click();
    const link = await owner.page.locator('.once code').innerText();
    await owner.page.getByRole('button', { name: 'Done' }).click();
    await owner.page.getByRole('cell', { name: 'Reader of chosen' }).waitFor();

    const guest = await open({ server, session: null }, link);
    await guest.page.getByText('invites margaret@example.com as a reader.').waitFor();
    await guest.page.getByLabel('Name').fill('Margaret');
    await guest.page.getByLabel('Password', { exact: true }).fill('a long enough passphrase');
    await guest.page.getByRole('button', { name: /^Join|^Create/ }).click();
    await guest.page.getByRole('heading', { name: 'Overview' }).waitFor();
    const pages = guest.page.getByRole('navigation', { name: 'Pages' }).getByRole('link');
    expect(await pages.allInnerTexts()).toEqual(['Overview', 'Sources', 'Corrections']);

    await owner.page.reload();
    await owner.page.getByRole('button', { name: /^chosen ?: change what/ }).click();
    await owner.page.locator('dialog input[value=demo]').check();
    await owner.page.getByRole('dialog').getByRole('button', { name: 'Save' }).click();
    await owner.page.getByRole('button', { name: /^chosen, demo ?: change what/ }).waitFor();
    await guest.page.goto('/projects');
    await guest.page.locator('main a[href$="/projects/demo"]').first().waitFor();
  });

  test('a removed member loses all access with the next action', async () => {
    const { server, session } = shared();
    const barbara = person('Barbara');
    const editor = await session.bring(barbara, 'editor');
    const keys = '/api/organizations/default/keys';
    await editor.ask('POST', keys, { name: 'Left behind', type: 'admin', expires: 'never' });
    const guest = await open({ server, session: editor }, '/projects/demo');
    await guest.page.getByRole('heading', { name: 'Overview' }).waitFor();
    const owner = await open(shared(), '/members');
    await owner.page.getByRole('button', { name: `Remove ${barbara.email}` }).click();
    await owner.page.getByRole('button', { name: 'Remove member' }).click();
    await owner.page.getByText(`${barbara.email} is no longer a member`).waitFor();
    expect(await owner.page.getByRole('row', { name: new RegExp(barbara.email) }).count()).toBe(0);
    const left = owner.page.getByRole('dialog', { name: `Revoke the keys of ${barbara.email}?` });
    await left.getByText('Left behind').waitFor();
    await left.getByRole('button', { name: 'Revoke key' }).click();
    await owner.page.getByText('The keys are revoked').waitFor();
    const listed = await session.ask<{ keys: { name: string; status: string }[] }>('GET', keys);
    expect(listed.keys.find(({ name }) => name === 'Left behind')?.status).toBe('revoked');

    guest.troubles.expect('GET /api/organizations/default/keys: 404');
    await guest.page.getByRole('link', { name: 'API keys' }).click();
    await guest.page.getByText('There is no such organization.').waitFor();
    await guest.page.goto('/');
    await guest.page.getByRole('heading', { name: 'No organization yet' }).waitFor();
  });

  test('a renewed or withdrawn invitation does not work', async () => {
    const { server, session } = shared();
    const { token } = await session.ask<{ token: string }>('POST', '/api/organizations/default/invitations', {
      email: 'edsger@example.com',
      role: 'viewer',
    });
    const owner = await open(shared(), '/members');
    await owner.page.getByRole('button', { name: 'Renew the invitation of edsger@example.com' }).click();
    const renewed = owner.page.getByRole('dialog', { name: 'Invitation renewed' });
    const link = await renewed.locator('.once code').innerText();
    await renewed.getByRole('button', { name: 'Done' }).click();
    const guest = await open({ server, session: null }, link);
    await guest.page.getByText('invites edsger@example.com as a viewer.').waitFor();
    guest.troubles.expect('POST /api/invitations/look-up: 404', 'POST /api/invitations/look-up: 404');
    const isRefused = () =>
      guest.page.getByRole('heading', { name: 'This invitation does not work' }).waitFor();
    await guest.page.goto('/livez');
    await guest.page.goto(`/join#${token}`);
    await isRefused();
    await owner.page.getByRole('button', { name: 'Withdraw the invitation of edsger@example.com' }).click();
    await owner.page.getByText('The invitation of edsger@example.com is withdrawn').waitFor();
    await owner.page.getByRole('cell', { name: 'edsger@example.com' }).waitFor({ state: 'detached' });
    await guest.page.goto('/livez');
    await guest.page.goto(link);
    await isRefused();
  });

  test('the last owner can neither leave nor be demoted', async () => {
    const { session } = shared();
    const second = person('Second');
    await session.bring(second, 'owner');
    // This page still shows two owners.
    const { page, troubles } = await open(shared(), '/members');
    const note = page.getByText('You are the only owner');
    await page.getByLabel(`Role of ${second.email}`).waitFor();
    expect(await note.count()).toBe(0);
    await session.ask('DELETE', `/api/organizations/default/members/${encodeURIComponent(second.email)}`);
    const members = `/api/organizations/default/members/${encodeURIComponent(ada.email)}`;
    troubles.expect(`DELETE ${members}: 400`, `PATCH ${members}: 400`);
    await page.getByRole('button', { name: 'Remove yourself' }).click();
    await page.getByRole('button', { name: 'Remove member' }).click();
    await page.getByRole('dialog').getByRole('alert').getByText(/owner/).waitFor();
    await page.keyboard.press('Escape');
    const role = page.getByLabel(`Role of ${ada.email}`);
    await role.selectOption('Viewer');
    await page.getByRole('status').getByText(/owner/).waitFor();
    expect(await role.inputValue()).toBe('owner');
    await page.reload();
    await note.waitFor();
    for (const control of [role, page.getByRole('button', { name: 'Remove yourself' })]) {
      expect(await control.isDisabled()).toBe(true);
      expect(await control.getAttribute('aria-describedby')).toBe(await note.getAttribute('id'));
    }
  });
});
