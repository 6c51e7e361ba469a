/** `caller-stats verify`: checks every counter against the recorded queries. */

import type { Command } from 'commander';
import { bucketWidthMs } from '../../domain/counting/buckets.js';
import type { TypeCounts } from '../../domain/counting/counts.js';
import { formatCount, formatQuantity } from '../../domain/format.js';
import { CALLER_TYPES } from '../../domain/queries/caller.js';
import type { CounterDifference, Verification } from '../../storage/ports/store.js';
import type { Io } from '../io.js';
import { settingOption } from '../settings/settings.js';
import { readStoreSettings, runOnStore } from '../store-command.js';
import { printJson, printLine } from '../terminal/output.js';

export function addVerifyCommand(program: Command, io: Io, fail: () => void): void {
  program
    .command('verify')
    .description('recounts the recorded queries; exits with status 1 if a counter differs')
    .addOption(settingOption('database'))
    .option('--json', 'print the result as JSON')
    .action(async (options: { json?: boolean }) => {
      const settings = readStoreSettings(options, io);
      const found = await runOnStore(settings, (store) => store.verify());
      if (options.json) printJson(io.stdout, toJson(found));
      else report(found, io);
      if (found.differencesTotal > 0 || found.damage.length > 0) fail();
    });
}

function report({ projects, queries, damage, differences, differencesTotal }: Verification, io: Io): void {
  if (damage.length > 0) {
    for (const line of damage) printLine(io.stdout, `damage: ${line}`);
    printLine(io.stdout, 'The database is damaged, so nothing was recounted. Restore a backup.');
    return;
  }
  for (const difference of differences) {
    const { projectId, counted, recounted } = difference;
    const changes = changed(counted, recounted).map(
      (type) =>
        `${type} ${signed(counted[type] - recounted[type])} (counter ${counted[type]}, recounted ${recounted[type]})`,
    );
    const caller = difference.caller === undefined ? '' : `, caller ${difference.caller}`;
    printLine(
      io.stdout,
      `project ${projectId}, bucket ${bucketName(difference)}${caller}: ${changes.join(', ')}`,
    );
  }
  const more = differencesTotal - differences.length;
  if (more > 0) printLine(io.stdout, `and ${formatCount(more)} more`);
  const checked = `${formatQuantity(queries, 'query', 'queries')} in ${formatQuantity(projects, 'project')}`;
  printLine(
    io.stdout,
    differencesTotal === 0
      ? `${checked}: every counter is what a recount gives`
      : `${checked}: ${formatQuantity(differencesTotal, 'counter')} ${differencesTotal === 1 ? 'differs' : 'differ'} from a recount`,
  );
}

function toJson({ differences, ...rest }: Verification) {
  return {
    ...rest,
    differences: differences.map((difference) => ({
      ...difference,
      bucketStart: bucketStart(difference),
      bucketWidthMs: bucketWidthMs(difference.level),
    })),
  };
}

function changed(counted: TypeCounts, recounted: TypeCounts): (keyof TypeCounts)[] {
  return CALLER_TYPES.filter((type) => counted[type] !== recounted[type]);
}

function bucketName(difference: CounterDifference): string {
  return `${bucketStart(difference)} (${formatCount(bucketWidthMs(difference.level))} ms wide)`;
}

function bucketStart({ level, bucket }: CounterDifference): string {
  const date = new Date(bucket * bucketWidthMs(level));
  return Number.isNaN(date.getTime()) ? `number ${bucket}` : date.toISOString();
}

function signed(difference: number): string {
  return difference > 0 ? `+${difference}` : String(difference);
}
