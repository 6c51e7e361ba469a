/** `caller-stats copy`: copies everything from one store into another and verifies the totals. */
import type { Command } from 'commander';
import { difference } from '../../app/copy/proof.js';
import { type Copied, copyStock, takeStock } from '../../app/copy/run.js';
import { withSide } from '../../app/copy/side.js';
import { formatCount, formatQuantity } from '../../domain/format.js';
import { isSameStore } from '../../storage/open.js';
import { type Io, UsageError } from '../io.js';
import { readSettings, settingOption } from '../settings/settings.js';
import { printJson, printLine, printTable } from '../terminal/output.js';
import { startProgress } from '../terminal/progress.js';

export function addCopyCommand(program: Command, io: Io, fail: () => void): void {
  program
    .command('copy')
    .description('copies everything from one database into another, and verifies that the totals are equal')
    .addOption(settingOption('from'))
    .addOption(settingOption('to'))
    .option('--json', 'print what was copied as JSON')
    .addHelpText(
      'after',
      '\nServers may run on both databases. Existing queries count as duplicates, so you can stop and repeat a copy; another\n' +
        'run copies what arrived meanwhile. The exit status is 1 if the totals of a project differ.',
    )
    .action(async (options: { from?: string; to?: string; json?: boolean }) => {
      const { from, to, databaseConnectionsMax, databaseTimeoutMs } = readSettings(
        ['from', 'to', 'databaseConnectionsMax', 'databaseTimeoutMs'],
        options,
        io.env,
      );
      if (await isSameStore(from, to)) {
        throw new UsageError(['--to: is the same database as --from; name the one to copy into']);
      }
      const limits = { connectionsMax: databaseConnectionsMax, timeoutMs: databaseTimeoutMs };
      // Open the source first: if it does not exist, do not create the target.
      const copied = await withSide('source', from, { ...limits, mustExist: true }, (source) =>
        withSide('target', to, limits, async (target) => {
          const stock = await takeStock(source);
          const progress = await startProgress(io, stock.queries);
          try {
            return await copyStock(stock, { from: source, to: target, io, progress });
          } finally {
            progress.stop();
          }
        }),
      );
      const differences = copied.projects.map(difference).filter((found) => found !== undefined);
      if (options.json) printJson(io.stdout, toReported(copied));
      else report(copied, differences, io);
      if (differences.length > 0) fail();
    });
}

function report({ organizations, keys, projects }: Copied, differences: readonly string[], io: Io): void {
  printTable(
    io.stdout,
    ['PROJECT', 'RECORDED', 'DUPLICATES', 'SOURCE', 'TARGET'],
    projects.map(({ id, recorded, duplicates, source, target }) => [
      id,
      ...[recorded, duplicates, source.total, target.total].map(formatCount),
    ]),
  );
  const all = [
    formatQuantity(organizations.copied + organizations.present, 'organization'),
    formatQuantity(projects.length, 'project'),
    `${formatQuantity(keys.copied + keys.present, 'key')} (${formatCount(keys.copied)} new)`,
  ];
  printLine(io.stdout, all.join(', '));
  for (const found of differences) printLine(io.stdout, found);
  if (differences.length === 0) printLine(io.stdout, 'every project has the same totals on both sides');
}

function toReported({ projects, ...rest }: Copied) {
  return {
    ...rest,
    projects: projects.map((project) => ({ ...project, equal: difference(project) === undefined })),
  };
}
