/** The page that says what arrived and what became of it. */
import { expect, test } from 'vitest';
import { onSqlite } from '../support/browser/dashboard-server.js';
import { dashboardVisits, startSetUp } from '../support/browser/dashboard-visit.js';
import { pollSeconds } from '../support/browser/overview.js';
import { sendSpans } from '../support/browser/sent-spans.js';
import { sharedByTests } from '../support/cleanup.js';

const open = dashboardVisits();
const shared = sharedByTests(startSetUp(onSqlite));

test('sources appear by themselves, with the rule for what matches none', async () => {
  const { server } = shared();
  const { page } = await open(shared(), '/projects/demo/keys', {
    permissions: ['clipboard-read', 'clipboard-write'],
  });
  await page.clock.install();
  await page.getByRole('link', { name: 'Sources' }).click();
  await page.getByText('Nothing has arrived in the last seven days').waitFor();

  const chat = { 'gen_ai.operation.name': 'chat' };
  await sendSpans(server, 'docs-assistant', [
    chat,
    { ...chat, 'caller_stats.caller': 'Not a name' },
    { other: 1 },
  ]);
  await sendSpans(server, 'shop', [
    { 'http.route': '/api/ask' },
    { 'gen_ai.operation.name': 'execute_tool' },
  ]);
  const sources = page.getByRole('table', { name: 'Sources', exact: true });
  const row = (name: string) => sources.getByRole('row', { name });
  await pollSeconds(page, () => row('docs-assistant').count()).toBe(1);
  const numbers = async (name: string) => (await row(name).getByRole('cell').allInnerTexts()).slice(1);
  expect(await numbers('docs-assistant')).toEqual(['3', '1', '0', '1', '1']);
  await pollSeconds(page, () => row('shop').count()).toBe(1);
  expect(await numbers('shop')).toEqual(['2', '0', '0', '0', '2']);
  await row('shop').getByText('No rule matches').waitFor();
  await page.getByText('its only record has no attribute that names an operation').waitFor();

  const values = page.getByRole('table', { name: 'shop, traces' });
  await values.getByRole('row', { name: 'execute_tool' }).getByText('None needed').waitFor();
  await values.getByRole('button', { name: 'Copy rules with http.route=/api/ask' }).click();
  expect(await page.evaluate('navigator.clipboard.readText()')).toBe('default;http.route=/api/ask');

  await values.getByRole('button', { name: 'Use rules with http.route=/api/ask…' }).click();
  const dialog = page.getByRole('dialog', { name: 'Count http.route=/api/ask?' });
  await dialog.getByRole('button', { name: 'Cancel' }).click();
  await page.getByText('Now they are default, as on the whole server.').waitFor();
  await values.getByRole('button', { name: 'Use rules with http.route=/api/ask…' }).click();
  await dialog.getByRole('button', { name: 'Use these rules' }).click();
  await page.getByText('The rules of Sample events are saved').waitFor();
  // At once, because the other suggestions would undo this change.
  expect(await page.getByText('Now they are default;http.route=/api/ask.').count()).toBe(1);
  await values.getByRole('row', { name: '/api/ask' }).getByText('None needed').waitFor();
  await sendSpans(server, 'shop', [{ 'http.route': '/api/ask' }]);
  // The span belongs to a question of the other service, for it is in the same trace.
  await pollSeconds(page, () => numbers('shop')).toEqual(['3', '0', '1', '0', '2']);

  await page.getByRole('tab', { name: 'Last day' }).click();
  expect(await numbers('docs-assistant')).toEqual(['3', '1', '0', '1', '1']);
});
