/** `caller-stats import`: records the queries of files. */

import { type Command, Option } from 'commander';
import { recordCarriedCounts, recordCarriedQueries, restoreCorrection } from '../../../app/carried.js';
import { countMonths } from '../../../app/import/dry-run.js';
import { openSource, type Source } from '../../../app/import/file/source.js';
import { type Form, selectReader } from '../../../app/import/formats.js';
import { describeTotals, type ImportPlan, type ImportTotals, runImport } from '../../../app/import/run.js';
import { noteImport } from '../../../app/ingestion.js';
import { createProject } from '../../../app/projects.js';
import { retryWhileUnavailable } from '../../../app/retry.js';
import { CallerStatsError } from '../../../domain/errors.js';
import { formatCount, formatQuantity } from '../../../domain/format.js';
import { badRecordsNamedMax } from '../../../domain/limits.js';
import { DEFAULT_ORGANIZATION_ID } from '../../../domain/projects/organization.js';
import type { Sender } from '../../../domain/queries/receipt.js';
import { quote } from '../../../domain/result.js';
import type { Store } from '../../../storage/ports/store.js';
import { type Io, UsageError } from '../../io.js';
import {
  COUNT_FORMATS,
  type HistoryOptions,
  historyOptions,
  readHistoryForm,
} from '../../options/history-form.js';
import {
  commonOptions,
  type FormOptions,
  fieldOptions,
  formatOption,
  LOG_FORMAT,
  logOptions,
  OTLP_FORMAT,
  originOptions,
  readForm,
} from '../../options/import-form.js';
import { ServerClient } from '../../server-client.js';
import { addAction, collect, readStoreSettings, runOnStore } from '../../store-command.js';
import { runOnTemporaryStore } from '../../temporary-store.js';
import { formatTable, printLine } from '../../terminal/output.js';
import { withProgress } from '../../terminal/progress.js';
import { importHistory } from './history.js';
import { importOtlp } from './otlp.js';

interface ImportOptions extends FormOptions, Omit<HistoryOptions, 'format'> {
  readonly project: string;
  readonly strict?: boolean;
  readonly dryRun?: boolean;
  readonly url?: string;
}

/** `import`, `import counts` and `import log`, each with its own help. The first takes the options of all, so that `--format` may be any. */
export function addImportCommand(program: Command, io: Io): void {
  const files = 'files to read, plain, gzip or Zstandard; - for stdin';
  const hidden = [...logOptions(), ...historyOptions()].map((option) => option.hideHelp());
  const queries = program
    .command('import')
    // It has parsed the options that it knows before it comes to the command.
    .hook('preSubcommand', (itself, command) => {
      for (const [name, value] of Object.entries(itself.opts())) command.setOptionValue(name, value);
    })
    .description(
      'records the queries of files; recorded queries count as duplicates, so you can repeat an import',
    )
    .argument('<file...>', files)
    .addHelpText(
      'after',
      '\nWithout --format, files that end in .csv or .tsv (.csv.gz, .csv.zst) are CSV, and others JSON: one object per line, an\n' +
        'array, or, if they end in .json, any layout. In --map, --where and --records, a.b is the field b inside of a. stderr\n' +
        `names the first ${badRecordsNamedMax} bad records by file, line and reason; all others are recorded, and the exit status is 1.`,
    );
  addOptions(
    queries,
    io,
    [formatOption(), ...fieldOptions(), ...originOptions(), ...hidden],
    ({ format }) => format,
  );
  const counts = queries
    .command('counts')
    .description('imports history that exists only as counts: all of it or, if a count is bad, none')
    .argument('<file...>', `${files}; or the URL of another server`);
  const formats = Object.entries(COUNT_FORMATS).map(([name, what]) => `${name}: ${what}`);
  const ofCounts = [
    new Option(
      '--format <format>',
      `${formats.join('; ')}. A URL is read by caller-stats-api (default: counts)`,
    ).choices(Object.keys(COUNT_FORMATS)),
    new Option('--source <name>', 'the name of the system that counted the queries'),
    new Option('--time-zone <zone>', 'the time zone of the days (default: UTC)'),
    new Option('--event <name>', 'plausible: the event that is a query').argParser(collect),
    ...historyOptions(),
  ];
  addOptions(counts, io, ofCounts, formatOfCounts);
  const log = queries
    .command('log')
    .description('records the queries in access logs of web servers, of nginx, Apache or Caddy')
    .argument('<file...>', files);
  addOptions(log, io, [...logOptions(), ...originOptions()], () => LOG_FORMAT);
}

function formatOfCounts({ format }: Format, [file = '']: readonly string[]): string {
  const names = Object.keys(COUNT_FORMATS);
  if (format !== undefined && !names.includes(format))
    throw new UsageError([`--format: ${quote(format)} has no counts; choose ${names.join(', ')}`]);
  return format ?? (/^https?:/.test(file) ? 'caller-stats-api' : 'counts');
}

interface Format {
  /** Also the names of `COUNT_FORMATS` and of files of the Collector. */
  readonly format?: string;
}

function addOptions(
  command: Command,
  io: Io,
  own: readonly Option[],
  formatOf: (options: Format, files: readonly string[]) => string | undefined,
): void {
  for (const option of [...own, ...commonOptions()]) command.addOption(option);
  addAction(
    command,
    io,
    'print the totals as JSON',
    async (given: Omit<ImportOptions, 'format'> & Format, files) => {
      const format = formatOf(given, files);
      const options = format === undefined ? given : { ...given, format };
      const history = readHistoryForm(options, files);
      if (history !== undefined) return importHistory(history, files, options, io);
      if (format === OTLP_FORMAT) return importOtlp(files, options, io);
      return importQueries(files, options as ImportOptions, io);
    },
  );
}

async function importQueries(files: readonly string[], options: ImportOptions, io: Io) {
  const form = await readForm(options);
  if (files.filter((file) => file === '-').length > 1) throw new UsageError(['FILE: - is given twice']);
  const sources = await Promise.all(files.map((file) => openSource(file, io.stdin)));
  const sender = { kind: 'import', files } as const;
  if (options.dryRun) return rehearse(sources, sender, form, options, io);
  const totals = await withSink(options, sender, io, async (target, store) => {
    const beforeRecording = sources.length > 1 && form.log && !form.log.isOneLog && refuseShared(form.log);
    const imported = await importWith(sources, form, options, { ...target, ...beforeRecording }, io);
    if (store !== undefined) await noteImport(store, options.project, imported, io.clock.now());
    return imported;
  });
  return {
    json: totals,
    text: describeTotals(totals),
    notes: hintsOf(totals, form),
    failed: totals.bad > 0,
  };
}

/** Imports into a temporary store, after checking that the project exists. */
async function rehearse(
  sources: readonly Source[],
  sender: Sender,
  form: Form,
  options: ImportOptions,
  io: Io,
) {
  await withSink(options, sender, io, ({ sink }) => sink([]));
  return runOnTemporaryStore(io, async (store) => {
    const by = { name: 'dry run', address: null, at: io.clock.now() };
    const wanted = { id: undefined, organizationId: DEFAULT_ORGANIZATION_ID, name: 'Dry run' };
    const { id } = await createProject({ store, randomInt: io.randomInt }, wanted, by);
    const target = targetIn(store, sender, id, io);
    const totals = await importWith(sources, form, options, target, io);
    const months = await countMonths(store.counts, id);
    const rows = months.map(({ month, caller, queries }) => [month, caller, formatCount(queries)]);
    return {
      json: { dryRun: true, ...totals, months },
      text: [
        ...(rows.length > 0 ? formatTable(['MONTH', 'CALLER', 'QUERIES'], rows, ['QUERIES']) : []),
        `Dry run, nothing was recorded: ${describeTotals(totals, 'to record')}`,
      ],
      notes: hintsOf(totals, form),
      failed: totals.bad > 0,
    };
  });
}

/** Explains an import that found nothing, and what it took as one of two. */
function hintsOf({ read, skipped }: ImportTotals, { reading: { clock }, log }: Form): string[] {
  const hints: string[] = [];
  if (read > 0 && skipped === read) {
    hints.push('No record was a query: check --where, --event or --path against a record of the file.');
  }
  if (clock?.shownTwice !== undefined) {
    hints.push(
      `${clock.zone} had times such as ${quote(clock.shownTwice)} twice, because its clock was set back. They count as the earlier ones.`,
    );
  }
  if (log !== undefined && log.shared.count > 0) hints.push(sharedHint(log));
  return hints;
}

function sharedHint({ shared, isOneLog }: NonNullable<Form['log']>): string {
  const lines = `At least ${formatQuantity(shared.count, 'line')} of these files occur in several of them`;
  if (isOneLog) return `${lines}, and count once.`;
  return `${lines}. If several servers wrote the files, import those of each with its own --source, such as web-1. If they are one log, say so with --source '', and such lines count once.`;
}

/** Nobody but the user knows whether identical lines of several files are one query or several. */
function refuseShared(log: NonNullable<Form['log']>): Pick<ImportPlan, 'beforeRecording'> {
  return {
    beforeRecording: () => {
      if (log.shared.count > 0)
        throw new CallerStatsError('invalid', `Nothing was recorded. ${sharedHint(log)}`);
    },
  };
}

async function importWith(
  sources: readonly Source[],
  form: Form,
  { strict = false }: ImportOptions,
  target: ImportTarget,
  io: Io,
): Promise<ImportTotals> {
  // Check that the project exists before reading anything.
  await target.sink([]);
  const sizes = sources.map(({ sizeBytes }) => sizeBytes);
  const totalBytes = sizes.reduce(
    (sum, size) => (sum === undefined || size === undefined ? undefined : sum + size),
    0,
  );
  const old = { queries: 0, first: '' };
  let skipped = 0;
  const totals = await withProgress(io, totalBytes, (progress) =>
    runImport({
      sources,
      selectReader: (name) => selectReader(form, name),
      strict,
      ...target,
      clock: io.clock,
      progress,
      onSkippedCorrection: () => skipped++,
      onUnlikelyTime: (place) => {
        old.queries++;
        old.first ||= place;
      },
    }),
  );
  if (old.queries > 0) {
    const queries = formatQuantity(old.queries, 'query', 'queries');
    printLine(
      io.stderr,
      `${queries} of a time before 2000, the first in ${old.first}: is it the right unit?`,
    );
  }
  if (skipped > 0)
    printLine(
      io.stderr,
      `${formatQuantity(skipped, 'line')} skipped: a server takes no corrections, and nothing that was withdrawn. An import into the database takes all.`,
    );
  return totals;
}

type ImportTarget = Pick<
  ImportPlan,
  'sink' | 'restore' | 'restoreCounts' | 'batchQueries' | 'beforeRecording'
>;

function targetIn(store: Store, sender: Sender, projectId: string, io: Io): ImportTarget {
  const target = { store, clock: io.clock };
  const retry = { note: (line: string) => printLine(io.stderr, line) };
  return {
    sink: (queries) =>
      retryWhileUnavailable(() => recordCarriedQueries(target, sender, projectId, queries), retry),
    restore: (carried) => retryWhileUnavailable(() => restoreCorrection(target, projectId, carried), retry),
    restoreCounts: (counts) =>
      retryWhileUnavailable(() => recordCarriedCounts(target, projectId, counts), retry),
    batchQueries: store.counts.importBatchQueries,
  };
}

/** Runs `work` with the functions that record into the project, on the server or in the database. */
async function withSink<T>(
  { url, project, ...options }: ImportOptions,
  sender: Sender,
  io: Io,
  work: (target: ImportTarget, store?: Store) => Promise<T>,
): Promise<T> {
  if (url !== undefined) {
    const client = new ServerClient(url, io);
    const note = (line: string) => printLine(io.stderr, line);
    return work({
      sink: (queries) => client.record(project, queries, note),
      restoreCounts: (counts) => client.importCounts(project, counts, false),
    });
  }
  return runOnStore(
    readStoreSettings(options, io),
    (store) => work(targetIn(store, sender, project, io), store),
    { mustExist: true, forImport: true },
  );
}
