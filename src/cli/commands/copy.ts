/** `caller-stats copy`: copies organizations, projects, keys and queries to another store and verifies the totals. */
import type { Command } from 'commander';
import { difference } from '../../app/copy/proof.js';
import { type Copied, copyStock, type Stock, takeStock } from '../../app/copy/run.js';
import { withSide } from '../../app/copy/side.js';
import { formatCount, formatQuantity } from '../../domain/format.js';
import { isSameStore } from '../../storage/open.js';
import { type Io, UsageError } from '../io.js';
import { readSetting } from '../settings/setting.js';
import { databaseSetting, readSettings } from '../settings/settings.js';
import { addAction, connectionLimits } from '../store-command.js';
import { formatTable, printLine } from '../terminal/output.js';
import { withProgress } from '../terminal/progress.js';

export function addCopyCommand(program: Command, io: Io): void {
  const command = program
    .command('copy')
    .description(
      'copies organizations, members, projects, keys, queries, corrections and imported counts from one database into another, and ' +
        'verifies that the totals are equal',
    )
    .requiredOption('--from <url>', 'the database to copy from, a URL as for --database')
    .requiredOption('--to <url>', 'the database to copy into; a SQLite file is created if it does not exist')
    .addHelpText(
      'after',
      '\nServers may run on both databases. Existing queries count as duplicates, so you can stop and repeat a copy; another\n' +
        'run copies what arrived meanwhile. The exit status is 1 if the totals of a project differ.',
    );
  addAction(command, io, 'print what was copied as JSON', async (options: Sides) => {
    const copied = await copy(options, io);
    const differences = copied.projects.map(difference).filter((found) => found !== undefined);
    return { json: toJson(copied), text: describe(copied, differences), failed: differences.length > 0 };
  });
}

interface Sides {
  readonly from: string;
  readonly to: string;
}

async function copy({ from, to }: Sides, io: Io): Promise<Copied> {
  const settings = readSettings(['databaseConnectionsMax', 'databaseTimeoutMs'], {}, io.env);
  const problems = Object.entries({ from, to }).flatMap(([flag, url]) => {
    const read = readSetting({ ...databaseSetting, description: '', flag, environment: '' }, url, {});
    return read.ok ? [] : read.problems;
  });
  if (problems.length > 0) throw new UsageError(problems);
  if (await isSameStore(from, to)) {
    throw new UsageError(['--to: is the same database as --from; name the one to copy into']);
  }
  const limits = connectionLimits(settings);
  // Open the source first: if it does not exist, do not create the target.
  return withSide('source', from, { ...limits, mustExist: true }, (source) =>
    withSide('target', to, limits, async (target) => {
      const stock = await takeStock(source, io.clock.now());
      for (const line of describeLeftOut(stock)) printLine(io.stderr, line);
      return withProgress(io, stock.queries, (progress) => copyStock(stock, source, target, io, progress));
    }),
  );
}

/** Before the copy, because it may take hours. */
function describeLeftOut({ members, left }: Stock): string[] {
  const what = [
    ...(members.length > 0 ? ['accounts'] : []),
    ...(left.invitations > 0 ? [formatQuantity(left.invitations, 'invitation')] : []),
    ...(left.shareLinks > 0 ? [formatQuantity(left.shareLinks, 'share link')] : []),
    ...(left.notifications > 0 ? [formatQuantity(left.notifications, 'notification')] : []),
  ];
  return what.length > 0
    ? [`Not copied: ${what.join(', ')}, the audit log. See "Accounts after the move" in the docs.`]
    : [];
}

function describe({ organizations, keys, projects }: Copied, differences: readonly string[]): string[] {
  const rows = projects.map(({ id, recorded, duplicates, importedQueries, source, target }) => [
    id,
    formatCount(recorded),
    formatCount(duplicates),
    formatCount(importedQueries),
    formatCount(source.total),
    formatCount(target.total),
  ]);
  const all = [
    formatQuantity(organizations.copied + organizations.present, 'organization'),
    formatQuantity(projects.length, 'project'),
    `${formatQuantity(keys.copied + keys.present, 'key')} (${formatCount(keys.copied)} new)`,
  ];
  return [
    ...formatTable(['PROJECT', 'RECORDED', 'DUPLICATES', 'IMPORTED', 'SOURCE', 'TARGET'], rows),
    all.join(', '),
    ...(differences.length > 0 ? differences : ['every project has the same totals on both sides']),
  ];
}

function toJson({ projects, ...rest }: Copied) {
  return {
    ...rest,
    projects: projects.map((project) => {
      const { withdrawn: _, correctedMeanwhile: __, callers: ___, ...shown } = project;
      return { ...shown, equal: difference(project) === undefined };
    }),
  };
}
