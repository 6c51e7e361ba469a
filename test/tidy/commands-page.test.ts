/** The page of commands contains the program's help. After a change of the help, run this file with `vitest -u`. */
import { expect, test } from 'vitest';
import { listedCommands, withHelp } from '../../scripts/pages/commands.js';
import { read } from './sources.js';

test('outdated help is replaced', () => {
  const page = '# Commands\n\n## `caller-stats verify`\n\nChecks.\n\n```txt\nold\n```\n';
  const made = withHelp(page);
  expect(made).toMatch(/^# Commands\n\n## `caller-stats verify`\n\nChecks\.\n\n```txt\nrecounts /);
  expect(made).not.toContain('old');
  expect(withHelp(made)).toBe(made);
});

test('the page has the current help of each command', async () => {
  const made = withHelp(read('docs/reference/commands.md').text);
  await expect(made).toMatchFileSnapshot('../../docs/reference/commands.md');
  expect(made.match(/^```txt$/gm)).toHaveLength(listedCommands().length);
});
