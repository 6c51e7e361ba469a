/** systemd finds no fault in the units of the package and of the page about backups. Left out where it is not installed. */
import { spawnSync } from 'node:child_process';
import { writeFile } from 'node:fs/promises';
import { join } from 'node:path';
import { execPath } from 'node:process';
import { expect, test } from 'vitest';
import { temporaryFolder } from '../support/temporary.js';
import { read } from './sources.js';

const isInstalled = spawnSync('systemd-analyze', ['--version']).status === 0;

/** What systemd says about units with these names. The program that they run need not be installed. */
async function verified(units: ReadonlyMap<string, string>): Promise<string> {
  const folder = await temporaryFolder();
  const files = [...units.keys()].map((name) => join(folder, name));
  for (const [name, text] of units)
    await writeFile(join(folder, name), text.replaceAll('/usr/local/bin/caller-stats', execPath));
  const { status, stderr } = spawnSync('systemd-analyze', ['verify', ...files], { encoding: 'utf8' });
  return `${status} ${stderr}`;
}

const unit = read('deploy/caller-stats.service').text;
const blocks = read('docs/guides/run/backup.md').text.matchAll(
  /`(caller-stats-backup\.\w+)`:\n+```ini\n([\s\S]*?)```/g,
);
const ofPage = [...blocks].map(([, name = '', text = '']) => [name, text] as const);

test.runIf(isInstalled)('the units have only settings that systemd knows', async () => {
  expect(ofPage.map(([name]) => name)).toEqual(['caller-stats-backup.service', 'caller-stats-backup.timer']);
  expect(await verified(new Map([['caller-stats.service', unit], ...ofPage]))).toBe('0 ');
  const misspelled = unit.replace('PrivateTmp=', 'PrivateTemp=');
  expect(await verified(new Map([['caller-stats.service', misspelled]]))).toMatch(
    /Unknown key (name )?'PrivateTemp'/,
  );
});
