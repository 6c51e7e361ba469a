/** `key disable`, `key enable`, `key revoke`: whether a key works. */

import type { Command } from 'commander';
import { toListedKey } from '../../../app/listed.js';
import { type KeyStatus, keyStatus } from '../../../domain/keys/api-key.js';
import type { KeyChange } from '../../../storage/ports/store.js';
import type { Io } from '../../io.js';
import { settingOption } from '../../settings/settings.js';
import { commandLineActor, organizationOption, readStoreSettings, runOnStore } from '../../store-options.js';
import { printJson, printLine } from '../../terminal/output.js';
import { nameOf } from './name.js';

const CHANGES: Readonly<Record<KeyChange, { readonly done: string; readonly description: string }>> = {
  disable: {
    done: 'disabled',
    description: 'makes an API key stop working until it is enabled, from the very next request on',
  },
  enable: { done: 'enabled', description: 'lets a disabled API key work again' },
  revoke: { done: 'revoked', description: 'revokes an API key for ever, from the very next request on' },
};

export function addChangeCommands(key: Command, io: Io): void {
  for (const [name, { done, description }] of Object.entries(CHANGES)) {
    key
      .command(name)
      .description(description)
      .argument('<id>', 'its id, from key list')
      .addOption(organizationOption())
      .addOption(settingOption('database'))
      .option('--json', 'print what is kept of the key as JSON')
      .action(async (id: string, options: { organization: string; json?: boolean }) => {
        const settings = readStoreSettings(options, io);
        const by = commandLineActor(io.clock);
        const changed = await runOnStore(settings, (store) =>
          store.changeKey(options.organization, id, name as KeyChange, by),
        );
        if (options.json) printJson(io.stdout, toListedKey(changed, by.at));
        else printLine(io.stdout, `${done} ${nameOf(changed)}${allTheSame(name, keyStatus(changed, by.at))}`);
      });
  }
}

/** For whoever enables a key that does not work for another reason. */
function allTheSame(change: string, status: KeyStatus): string {
  return change === 'enable' && status !== 'active' ? `, which is ${status} all the same` : '';
}
