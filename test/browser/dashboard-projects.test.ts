/** A project in the dashboard from its first query to its deletion, and its audit log. */
import { describe, expect, test } from 'vitest';
import { type DashboardServer, dashboardStarters } from '../support/browser/dashboard-server.js';
import { ada } from '../support/browser/dashboard-user.js';
import { dashboardVisits, startSetUp } from '../support/browser/dashboard-visit.js';
import { readDownload } from '../support/browser/download.js';
import { expectTiles, pollSeconds, rowsOf } from '../support/browser/overview.js';
import { sharedByTests } from '../support/cleanup.js';
import { runCommand } from '../support/cli/cli.js';
import { clientOf } from '../support/cli/cli-client.js';

const open = dashboardVisits();

describe.each(dashboardStarters)('on %s', (_kind, start) => {
  const shared = sharedByTests(startSetUp(start));

  test('an empty project shows working sample code, and the page notices the first query', async () => {
    const { page, troubles } = await open(shared(), '/new-project');
    await page.clock.install();
    const form = page.getByRole('form', { name: 'New project' });
    const make = async (name: string, id: string) => {
      await form.getByLabel('Name').fill(name);
      await form.getByLabel('Project id').fill(id);
      await form.getByRole('button', { name: 'Create project' }).click();
    };
    troubles.expect('POST /api/organizations/default/projects: 400');
    await form.getByLabel('Name').fill('Fresh Docs');
    expect(await form.getByLabel('Project id').inputValue()).toBe('fresh-docs');
    await make('Handbook', 'no spaces');
    await form.getByRole('textbox', { name: 'Project id', description: /1 to 64 letters/ }).waitFor();
    troubles.expect('POST /api/organizations/default/projects: 409');
    await make('Handbook', 'demo');
    await form.getByText(/demo/).first().waitFor();
    await make('Handbook', 'handbook');
    await page.getByText('Nothing was recorded in this project yet.').waitFor();

    await page.getByRole('button', { name: 'Create a recording key' }).click();
    const paste = async (name: string) => {
      const code = await page.getByRole('region', { name, exact: true }).innerText();
      const { stdout, status } = await runCommand('bash', ['-c', code]);
      expect(status).toBe(0);
      return JSON.parse(stdout) as unknown;
    };
    await page.getByText('This is the only time the key is shown.').waitFor();
    expect(await paste('test')).toEqual({ recorded: 0, duplicates: 0 });
    await pollSeconds(page, () => page.getByText('Test received from “First recording key”').count()).toBe(1);
    expect(await paste('curl code, in a terminal')).toEqual({ recorded: 1, duplicates: 0 });
    await pollSeconds(page, () => page.getByText('The first query has arrived.').count()).toBe(1);
    await expectTiles(page, { web: 1, api: 0, other: 0, total: 1 });
  });

  test('changes of name, zone, retention and OpenTelemetry settings are saved', async () => {
    const { session } = shared();
    await session.ask('POST', '/api/organizations/default/projects', { name: 'Guide', id: 'guide' });
    const { page, troubles } = await open(shared(), '/projects/guide/settings');
    // Without a change there is nothing to save.
    const saveName = page.getByRole('button', { name: 'Save name' });
    const canSave = async () => ({
      name: await saveName.isEnabled(),
      retention: await page.getByRole('button', { name: 'Save retention' }).isEnabled(),
    });
    expect(await canSave()).toEqual({ name: false, retention: false });
    await page.getByRole('radio', { name: 'For some days' }).check();
    await expect.poll(canSave).toEqual({ name: false, retention: true });
    await page.getByRole('radio', { name: 'Forever' }).check();
    await expect.poll(canSave).toEqual({ name: false, retention: false });
    // Markup in a name is text.
    const name = 'Guide <b onclick="alert(1)">book</b>';
    await page.getByLabel('Project name').fill(name);
    await saveName.click();
    await page.getByText('The name is saved').waitFor();
    await expect.poll(canSave).toEqual({ name: false, retention: false });
    await page.getByRole('button', { name }).waitFor();
    expect(await page.locator('b').count()).toBe(0);
    await page.getByLabel('Project time zone').selectOption('Asia/Kathmandu');
    await page.getByLabel('Weeks begin on').selectOption('Sunday');
    await page.getByRole('button', { name: 'Save calendar' }).click();
    await page.getByText('The calendar is saved').waitFor();
    await page.getByRole('radio', { name: 'For some days' }).check();
    await page.getByRole('spinbutton', { name: 'Days' }).fill('30');
    await page.getByRole('button', { name: 'Save retention' }).click();
    await page.getByText('The retention is saved').waitFor();

    const rules = page.getByRole('textbox', { name: 'Rules' });
    expect(await rules.getAttribute('placeholder')).toBe('default');
    const saveRules = page.getByRole('button', { name: 'Save OpenTelemetry' });
    troubles.expect('PATCH /api/organizations/default/projects/guide: 400');
    await rules.fill('a=');
    await page.getByRole('textbox', { name: 'Default caller' }).fill('Slack');
    await saveRules.click();
    await page.getByRole('textbox', { name: 'Rules', description: /Is not an attribute/ }).waitFor();
    await page.getByRole('textbox', { name: 'Default caller', description: /Is not "web"/ }).waitFor();
    await rules.fill('default;http.route=/ask');
    await page.getByRole('textbox', { name: 'Default caller' }).fill('');
    await page.getByRole('textbox', { name: 'What one question is' }).fill('trace');
    await saveRules.click();
    await page.getByText('The OpenTelemetry settings are saved').waitFor();
    await page.getByRole('textbox', { name: 'What one question is' }).fill('');
    // What somebody else changes meanwhile stays, because only changed fields are sent.
    await session.ask('PATCH', '/api/organizations/default/projects/guide', { otlpCaller: 'who' });
    const saved = page.waitForResponse((response) => response.request().method() === 'PATCH');
    await saveRules.click();
    expect((await saved).request().postDataJSON()).toEqual({ otlpId: null });

    const list = await session.ask<{ projects: object[] }>('GET', '/api/organizations/default/projects');
    expect(list.projects).toContainEqual(
      expect.objectContaining({
        ...{ name, timeZone: 'Asia/Kathmandu', weekStart: 'sunday', retentionDays: 30 },
        ...{ otlpQuery: 'default;http.route=/ask', otlpId: null, otlpCaller: 'who', otlpDefaultCaller: null },
      }),
    );
    await page.reload();
    expect(await rules.inputValue()).toBe('default;http.route=/ask');
    expect(await page.getByRole('spinbutton', { name: 'Days' }).inputValue()).toBe('30');
    expect(await page.getByLabel('Project time zone').inputValue()).toBe('Asia/Kathmandu');
    expect(await page.getByLabel('Weeks begin on').inputValue()).toBe('sunday');
    await page.goto('/projects/demo');
    await page.getByRole('heading', { name: 'Overview' }).waitFor();
    // After a refusal the old name is shown again.
    troubles.expect('PATCH /api/organizations/default/projects/guide: 400');
    await page.goto('/projects/guide/settings');
    await page.getByLabel('Project name').fill('\u200b');
    await page.getByRole('button', { name: 'Save name' }).click();
    await page.getByText('Is not 1 to 100 visible characters.').waitFor();
    await page.getByRole('button', { name }).waitFor();
  });

  test('a project is deleted at once by typing its name', async () => {
    const { server, session } = shared();
    await session.ask('POST', '/api/organizations/default/projects', { name: 'Old docs', id: 'old' });
    const { secret } = await session.ask<{ secret: string }>('POST', '/api/organizations/default/keys', {
      name: 'Old recorder',
      type: 'recording',
      projectId: 'old',
      expires: '7d',
    });
    expect(await recordStatus(server, 'old', secret)).toBe(200);
    const { page } = await open(shared(), '/projects/old/settings');
    await page.getByRole('button', { name: 'Delete project…' }).click();
    const dialog = page.getByRole('dialog', { name: 'Delete Old docs?' });
    const remove = dialog.getByRole('button', { name: 'Delete project' });
    await dialog.getByRole('textbox').fill('old docs');
    expect(await remove.isDisabled()).toBe(true);
    // The API does not know the project any more.
    const path = '/api/organizations/default/projects/old';
    expect(await session.status('DELETE', path, { name: 'old docs' })).toBe(400);
    await dialog.getByRole('textbox').fill('Old docs');
    await remove.click();
    await page.getByText('Old docs is deleted').waitFor();
    await page.getByRole('heading', { name: 'Overview' }).waitFor();
    expect(await recordStatus(server, 'old', secret)).toBe(401);
    expect(await recordStatus(server, 'old', server.firstRun.admin)).toBe(404);
    await page.goto('/projects/old');
    await page.getByText('There is no project with this id').waitFor();
  });

  test('the audit log shows who did what, and can be filtered', async () => {
    const { session } = shared();
    await session.ask('POST', '/api/organizations/default/projects', { name: 'Logged', id: 'logged' });
    await session.ask('PATCH', '/api/organizations/default/projects/logged', { name: 'Logged well' });
    const { page } = await open(shared(), '/audit');
    const table = page.getByRole('table', { name: 'Audit log' });
    await table
      .getByRole('row', { name: /^Project changed Logged well logged .*ada@example\.com ?127\.0\.0\.1/ })
      .waitFor();
    await page.getByLabel('Action').selectOption('project.create');
    await page.getByLabel('Who').fill(ada.email);
    await page.getByRole('button', { name: 'Filter' }).click();
    await table
      .getByRole('row', { name: /Project changed/ })
      .first()
      .waitFor({ state: 'detached' });
    await table.getByRole('row', { name: /^Project created Logged well logged / }).waitFor();
    expect(new URL(page.url()).search).toBe('?action=project.create&actor=ada%40example.com');
    expect(await page.getByLabel('Who').inputValue()).toBe(ada.email);
    const { text: csv } = await readDownload(page, () =>
      page.getByRole('button', { name: 'Download CSV' }).click(),
    );
    const [head, ...lines] = csv.trimEnd().split('\r\n');
    expect(head).toBe('number,at,actor,address,action,targetId,detail');
    expect(lines.find((line) => line.includes('logged'))).toMatch(
      /^\d+,[-\d]+T[:.\d]+Z,ada@example\.com,127\.0\.0\.1,project\.create,logged,Logged$/,
    );
    expect(lines.every((line) => line.includes(',project.create,'))).toBe(true);
    await page.getByRole('link', { name: 'Logged well', exact: true }).click();
    await table.getByRole('row', { name: /Project changed/ }).waitFor();
    expect(await rowsOf(table)).toHaveLength(2);
    await page.getByLabel('From').fill('2030-01-01');
    await page.getByRole('button', { name: 'Filter' }).click();
    await page.getByText('Nothing was changed that fits these filters.').waitFor();
    await page.goBack();
    await table.getByRole('row', { name: /Project changed/ }).waitFor();
    expect(await page.getByLabel('From').inputValue()).toBe('');
  });
});

async function recordStatus(server: DashboardServer, project: string, key: string): Promise<number> {
  return (await clientOf(server, project, key).record([{ id: 'one', caller: 'web' }])).status;
}
