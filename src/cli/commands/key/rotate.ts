/** `key rotate`: a successor takes over from a key. */
import type { Command } from 'commander';
import { toListedKey } from '../../../app/listed.js';
import { CallerStatsError } from '../../../domain/errors.js';
import { formatTime } from '../../../domain/format.js';
import { DEFAULT_GRACE, parseGrace, planRotation } from '../../../domain/keys/key-lifetime.js';
import { generateSuccessor } from '../../../domain/keys/new-key.js';
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
      const { old, made, endsAt } = await runOnStore(settings, async (store) => {
        const found = (await store.listKeys(options.organization)).find((one) => one.id === id);
        if (found === undefined) throw new CallerStatsError('not_found', `There is no key ${id}.`);
        const plan = planRotation(found, { nowMs: by.at, graceMs, lifeMsMax: settings.keyLifeMax });
        if (!plan.ok) throw new CallerStatsError('invalid', `The key ${id} ${plan.problems.join('; ')}.`);
        const maker = { vendor: settings.keyPrefix, by, randomInt: io.randomInt };
        const successor = generateSuccessor(found, plan.value, maker);
        await store.rotateKey(options.organization, id, successor.key, plan.value.expiresAt, by);
        return { old: found, made: successor, endsAt: plan.value.expiresAt };
      });
      if (options.json) return printJson(io.stdout, { key: made.secret, ...toListedKey(made.key, by.at) });
      printLine(io.stdout, made.secret);
      printLine(
        io.stderr,
        `Key ${made.key.id} takes over from ${nameOf(old)}, which works until ${formatTime(endsAt)}.`,
      );
      printLine(io.stderr, 'It is not shown again.');
    });
}

function checkGrace(text: string): number {
  const grace = parseGrace(text);
  if (!grace.ok) throw new UsageError(grace.problems.map((problem) => `--grace: ${problem}`));
  return grace.value;
}
