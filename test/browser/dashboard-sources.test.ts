/** The page that says what arrived and what became of it. */
import { expect, test } from 'vitest';
import { expectAccessible } from '../support/browser/accessible.js';
import { type DashboardServer, onSqlite } from '../support/browser/dashboard-server.js';
import { person } from '../support/browser/dashboard-user.js';
import { dashboardVisits, startSetUp } from '../support/browser/dashboard-visit.js';
import { callersOf, countsOf } from '../support/browser/demo-api.js';
import { expectTiles, patience, pollSeconds } from '../support/browser/overview.js';
import { sendSpans } from '../support/browser/sent-spans.js';
import { sharedByTests } from '../support/cleanup.js';

const open = dashboardVisits();
const shared = sharedByTests(startSetUp(onSqlite));

test('sources appear by themselves, with the rule for what matches none, and keys that expire', async () => {
  const { server, session } = shared();
  const { page } = await open(shared(), '/projects/demo/keys', {
    permissions: ['clipboard-read', 'clipboard-write'],
  });
  await page.clock.install();
  await page.getByRole('link', { name: 'Sources' }).click();
  await page.getByText('Nothing has arrived in the last seven days').waitFor();

  const ask = { 'http.request.method': 'POST', 'http.route': '/api/ask' };
  const answer = [ask, { 'gen_ai.operation.name': 'execute_tool' }];
  await sendSpans(server, 'shop', answer, 10);
  const sources = page.getByRole('table', { name: 'Sources', exact: true });
  const row = (name: string) => sources.getByRole('row', { name });
  const numbers = async (name: string) => (await row(name).getByRole('cell').allInnerTexts()).slice(1, 6);
  await pollSeconds(page, () => row('shop').count()).toBe(1);
  expect(await numbers('shop')).toEqual(['2', '0', '0', '0', '2']);
  await row('shop').getByText('No rule matches').waitFor();

  const values = page.getByRole('table', { name: 'shop, traces' });
  await values.getByRole('row', { name: 'execute_tool' }).getByText('None proposed').waitFor();
  await values.getByText('These rules would have counted the only request.').waitFor();
  await values.getByRole('button', { name: 'Copy rules with http.route=/api/ask' }).click();
  expect(await page.evaluate('navigator.clipboard.readText()')).toBe('http.route=/api/ask');

  await values.getByRole('button', { name: 'Use rules with http.route=/api/ask…' }).click();
  const dialog = page.getByRole('dialog', { name: 'Count http.route=/api/ask?' });
  await dialog.getByRole('button', { name: 'Cancel' }).click();
  await page.getByText('Now they are default.').waitFor();
  await values.getByRole('button', { name: 'Use rules with http.route=/api/ask…' }).click();
  await dialog.getByRole('button', { name: 'Use these rules' }).click();
  await page.getByText('The rules of Sample events are saved').waitFor();
  // At once, because the other suggestions would undo this change.
  expect(await page.getByText('Now they are http.route=/api/ask.').count()).toBe(1);
  await values.getByRole('row', { name: '/api/ask' }).getByText('None proposed').waitFor();

  await sendSpans(server, 'docs-assistant', [
    ask,
    { ...ask, 'caller_stats.caller': 'Not a name' },
    { other: 1 },
  ]);
  await pollSeconds(page, () => row('docs-assistant').count()).toBe(1);
  expect(await numbers('docs-assistant')).toEqual(['3', '1', '0', '1', '1']);
  await page.getByText('its only record names no operation, or belongs to a question that counts').waitFor();
  await sendSpans(server, 'shop', [ask]);
  // The span belongs to a question of the other service, for it is in the same trace.
  await pollSeconds(page, () => numbers('shop')).toEqual(['3', '0', '1', '0', '2']);

  await page.getByRole('tab', { name: 'Last day' }).click();
  expect(await numbers('docs-assistant')).toEqual(['3', '1', '0', '1', '1']);

  const key = { name: 'Old widget', type: 'recording', projectId: 'demo', expires: '10d' };
  const { secret } = await session.ask<{ secret: string }>('POST', '/api/organizations/default/keys', key);
  await sendSpans({ ...server, firstRun: { ...server.firstRun, recording: secret } }, 'widget', [{}], 20);
  const notice = page.getByText('The key Old widget is in use and expires on');
  await pollSeconds(page, () => notice.count()).toBe(1);
});

async function record(
  { url, firstRun }: DashboardServer,
  ids: readonly string[],
  caller: string,
): Promise<void> {
  const response = await fetch(`${url}/v1/analytics/${firstRun.project}/assistant/queries`, {
    method: 'POST',
    headers: { authorization: `Bearer ${firstRun.recording}`, 'content-type': 'application/json' },
    body: JSON.stringify(ids.map((id) => ({ id, caller }))),
  });
  if (!response.ok) throw new Error(await response.text());
}

test('a caller is renamed, and what a key sent is withdrawn, once the dialog has shown it; both are undone', async () => {
  const { server, session } = shared();
  await record(server, ['s1', 's2', 's3'], 'slak');
  const before = await countsOf(server, {});
  const callers = await callersOf(server, {});
  const { page, troubles } = await open(shared(), '/projects/demo?period=all&zone=UTC&caller=slak');
  await page.getByRole('button', { name: 'Correct slak…' }).click();
  const dialog = page.getByRole('dialog', { name: 'Correct what was recorded' });
  await dialog.getByLabel('New caller').fill('slak');
  await dialog.getByLabel('Reason').fill('a typing mistake');
  await dialog.getByRole('button', { name: 'Show what would change' }).click();
  await dialog.getByText('Is the caller that the queries have.').waitFor();
  troubles.expect('POST /api/organizations/default/projects/demo/corrections: 400');
  await dialog.getByLabel('New caller').fill('slack');
  await dialog.getByRole('button', { name: 'Show what would change' }).click();
  await dialog.getByText('3 queries would count for slack: Web 0, API 0, Other 3.').waitFor();
  await expectAccessible(page);
  // A change of the form takes back what was shown.
  await dialog.getByLabel('Caller', { exact: true }).fill('nobody');
  await dialog.getByRole('button', { name: 'Show what would change' }).click();
  await dialog.getByText('No query that counts matches.').waitFor();
  expect(await dialog.getByRole('button', { name: 'Rename 0 queries' }).isDisabled()).toBe(true);
  await dialog.getByLabel('Caller', { exact: true }).fill('slak');
  await dialog.getByRole('button', { name: 'Show what would change' }).click();
  expect(await callersOf(server, {})).toEqual(callers);
  await dialog.getByRole('button', { name: 'Rename 3 queries' }).click();
  await page.getByText('3 queries corrected').waitFor();
  await expectTiles(page, { web: 0, api: 0, other: 0, total: 0 });
  await page.goto('/projects/demo?period=today&zone=UTC&interval=day');
  // The chart says what happened to its numbers.
  const bar = page.getByRole('slider');
  await expect
    .poll(() => bar.getAttribute('aria-valuetext'), patience)
    .toMatch(/\. Rename slak to slack: a typing mistake$/);
  // And the total why it changed: nothing was there at the start of the day.
  await page.getByRole('button', { name: 'Why did it change?' }).click();
  const why = page.getByRole('dialog', { name: 'Why did this number change?' });
  await why
    .getByLabel('Compared with the start of this day (UTC)')
    .fill(new Date().toISOString().slice(0, 10));
  const parts = why.getByRole('table', { name: 'What it adds up from' }).locator('tbody').getByRole('row');
  await expect.poll(() => parts.last().innerText(), patience).toMatch(/^Now\s+\d+$/);
  const listed = await parts.allInnerTexts();
  expect(listed[0]).toMatch(/^On .+\s+0$/);
  expect(listed).toContainEqual(
    expect.stringMatching(/^slack, renamed\n+ada@example.com: a typing mistake\s+\+3$/s),
  );
  expect(listed).toContainEqual(
    expect.stringMatching(/^slak, recorded since\n+First recording key \(.+\)\s+\+3$/s),
  );
  const numbersOf = listed.map((text) => Number(/[-+\d,]+$/.exec(text)?.[0].replaceAll(',', '')));
  const whole = numbersOf.pop();
  expect(numbersOf.reduce((sum, one) => sum + one, 0)).toBe(whole);
  await expectAccessible(page);
  await page.keyboard.press('Escape');
  expect((await callersOf(server, {})).callers).not.toContainEqual(
    expect.objectContaining({ caller: 'slak' }),
  );

  await page.getByRole('link', { name: 'Sources' }).click();
  await page.getByRole('button', { name: 'Correct what First recording key sent…' }).click();
  await dialog.getByLabel('Reason').fill('a test');
  const sender = dialog.getByLabel('Sent by');
  await expect.poll(() => sender.locator('option:checked').innerText()).toMatch(/^First recording key \(/);
  await dialog.getByRole('button', { name: 'Show what would change' }).click();
  await dialog.getByRole('button', { name: /^Withdraw \d+ queries$/ }).click();
  await dialog.waitFor({ state: 'detached' });
  expect((await countsOf(server, {})).total).toBeLessThan(before.total);

  await page.getByRole('link', { name: 'Corrections' }).click();
  const rows = page.getByRole('table', { name: 'Corrections' }).locator('tbody').getByRole('row');
  await expect.poll(() => rows.count()).toBe(2);
  await rows.nth(1).getByText('Rename slak to slack').waitFor();
  await rows.nth(1).getByText('a typing mistake').waitFor();
  await rows.nth(1).getByText('ada@example.com').waitFor();
  for (const what of ['Withdraw all callers', 'Rename slak to slack']) {
    await page.getByRole('button', { name: `Undo ${what}…` }).click();
    const undo = page.getByRole('dialog', { name: `Undo “${what}”` });
    await undo.getByLabel('Reason').fill('it was right');
    await undo.getByRole('button', { name: 'Show what would change' }).click();
    await undo.getByRole('button', { name: /^Undo \d+ queries$/ }).click();
    await undo.waitFor({ state: 'detached' });
  }
  expect(await callersOf(server, {})).toEqual(callers);
  await expect.poll(() => rows.count()).toBe(4);
  expect(await page.getByText('Undone', { exact: true }).count()).toBe(2);
  await expectAccessible(page);

  const viewer = await session.bring(person('Grace'), 'viewer');
  const { page: seen } = await open({ server, session: viewer }, '/projects/demo/corrections');
  await expect.poll(() => seen.getByText('Rename slak to slack').count(), patience).toBe(1);
  expect(await seen.getByRole('button', { name: /Correct|Undo/ }).count()).toBe(0);
});
