/** The page of commands has what the program prints. After a change of it, `vitest -u` with this file writes it. */
import { expect, test } from 'vitest';
import { commands, withHelp } from '../../scripts/pages/commands.js';
import { read } from './sources.js';

test('the help of a command that is not current is put right', () => {
  const page = '# Commands\n\n## `caller-stats verify`\n\nChecks.\n\n<details>\nold\n</details>\n';
  const made = withHelp(page);
  expect(made).toMatch(
    /^# Commands\n\n## `caller-stats verify`\n\nChecks\.\n\n<details>\n<summary>caller-stats verify --help/,
  );
  expect(made).toContain('Usage: caller-stats verify [options]');
  expect(made).not.toContain('old');
  expect(withHelp(made)).toBe(made);
});

test('each command has its help on the page, as it prints it', async () => {
  const made = withHelp(read('docs/commands.md').text);
  await expect(made).toMatchFileSnapshot('../../docs/commands.md');
  expect(made.match(/^Usage: caller-stats /gm)).toHaveLength(commands().length);
});
