/** `key rotate`: a successor takes over from a key. */
import type { Command } from 'commander';
import { rotateKey } from '../../../app/keys.js';
import { toListedKey } from '../../../app/listed.js';
import { formatTime } from '../../../domain/format.js';
import { DEFAULT_GRACE, parseGrace } from '../../../domain/keys/key-lifetime.js';
import { allOrProblems, type Io, UsageError } from '../../io.js';
import { readSettings, STORE_SETTINGS, settingOption } from '../../settings/settings.js';
import { commandLineActor, organizationOption, runOnStore } from '../../store-options.js';
import { printJson, printLine } from '../../terminal/output.js';
import { nameOf } from './name.js';

interface RotateOptions {
  readonly organization: string;
  readonly grace: string;
  readonly json?: boolean;
}

export function addRotateCommand(key: Command, io: Io): void {
  key
    .command('rotate')
    .description(
      'makes a successor of an API key and prints it, this once; the old key goes on working for a grace period',
    )
    .argument('<id>', 'its id, from key list')
    .option('--grace <time>', 'how long the old key goes on working, as 30m, 24h, 7d, or 0', DEFAULT_GRACE)
    .addOption(organizationOption())
    .addOption(settingOption('keyPrefix'))
    .addOption(settingOption('keyLifeMax'))
    .addOption(settingOption('database'))
    .option('--json', 'print the successor and what is kept of it as JSON')
    .action(async (id: string, options: RotateOptions) => {
      const [settings, graceMs] = allOrProblems(
        () => readSettings([...STORE_SETTINGS, 'keyPrefix', 'keyLifeMax'], { ...options }, io.env),
        () => checkGrace(options.grace),
      );
      const by = commandLineActor(io.clock);
      const { old, oldExpiresAt, successor } = await runOnStore(settings, (store) =>
        rotateKey(
          { store, ...settings, randomInt: io.randomInt },
          { organizationId: options.organization, id, graceMs },
          by,
        ),
      );
      if (options.json)
        return printJson(io.stdout, { key: successor.secret, ...toListedKey(successor.key, by.at) });
      printLine(io.stdout, successor.secret);
      printLine(
        io.stderr,
        `Key ${successor.key.id} takes over from ${nameOf(old)}, which works until ${formatTime(oldExpiresAt)}.`,
      );
      printLine(io.stderr, 'It is not shown again.');
    });
}

function checkGrace(text: string): number {
  const grace = parseGrace(text);
  if (!grace.ok) throw new UsageError(grace.problems.map((problem) => `--grace: ${problem}`));
  return grace.value;
}
