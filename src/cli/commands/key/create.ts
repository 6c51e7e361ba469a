import { type Command, Option } from 'commander';
import { createKey } from '../../../app/keys.js';
import { toListedKey } from '../../../app/listed.js';
import { formatTime } from '../../../domain/format.js';
import { KEY_TYPES, type KeyType } from '../../../domain/keys/api-key.js';
import { DEFAULT_EXPIRY } from '../../../domain/keys/key-lifetime.js';
import { parseKeyRequest } from '../../../domain/keys/new-key.js';
import { allOrProblems, type Io, UsageError } from '../../io.js';
import { readSettings, STORE_SETTINGS, settingOption } from '../../settings/settings.js';
import { commandLineActor, organizationOption, runOnStore } from '../../store-options.js';
import { printJson, printLine } from '../../terminal/output.js';

interface CreateOptions {
  readonly name: string;
  readonly type: KeyType;
  readonly organization: string;
  readonly project?: string;
  readonly expires?: string;
  readonly scope?: string;
  readonly allow?: readonly string[];
  readonly json?: boolean;
}

export function addCreateCommand(key: Command, io: Io): void {
  key
    .command('create')
    .description('makes an API key and prints it, this once: only its hash is kept')
    .requiredOption('--name <name>', 'what people call it')
    .addOption(
      new Option(
        '--type <type>',
        'admin: reads and records all projects; recording: may only record, into one project',
      )
        .choices(KEY_TYPES)
        .default('admin'),
    )
    .option('--project <id>', 'the one project of a recording key')
    .option('--scope <scopes>', 'what an admin key may do: read, or read,write (default: read,write)')
    .option(
      '--allow <network>',
      'an address or network it may be used from, as 192.0.2.0/24; again for more (default: from anywhere)',
      (network: string, before: readonly string[] = []) => [...before, network],
    )
    .option('--expires <when>', `days as 90d, a date as 2027-01-31, or never (default: ${DEFAULT_EXPIRY})`)
    .addOption(organizationOption())
    .addOption(settingOption('keyPrefix'))
    .addOption(settingOption('keyLifeMax'))
    .addOption(settingOption('database'))
    .option('--json', 'print the key and what is kept of it as JSON')
    .action(async (options: CreateOptions) => {
      const by = commandLineActor(io.clock);
      const [settings] = allOrProblems(
        () => readSettings([...STORE_SETTINGS, 'keyPrefix', 'keyLifeMax'], { ...options }, io.env),
        () => checkWish(options, by.at, null),
      );
      checkWish(options, by.at, settings.keyLifeMax);
      const { key, secret } = await runOnStore(settings, (store) =>
        createKey({ store, ...settings, randomInt: io.randomInt }, options.organization, options, by),
      );
      if (options.json) return printJson(io.stdout, { key: secret, ...toListedKey(key, io.clock.now()) });
      printLine(io.stdout, secret);
      const expiry = key.expiresAt === null ? 'never expires' : `expires ${formatTime(key.expiresAt)}`;
      printLine(io.stderr, `Key ${key.id} ${expiry}. It is not shown again.`);
    });
}

/** `UsageError` with everything that is wrong. */
function checkWish(options: CreateOptions, nowMs: number, lifeMsMax: number | null): void {
  const wish = parseKeyRequest(options, { nowMs, lifeMsMax });
  if (!wish.ok) throw new UsageError(wish.problems.map((problem) => `--${problem}`));
}
