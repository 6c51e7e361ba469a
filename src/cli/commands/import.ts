/** `caller-stats import`: records the queries of files. */

import type { Command } from 'commander';
import type { Sink } from '../../app/import/batcher.js';
import { type Form, selectReader } from '../../app/import/formats.js';
import { describeTotals, type ImportTotals, runImport } from '../../app/import/run.js';
import { openSource, type Source } from '../../app/import/source.js';
import { retryWhileUnavailable } from '../../app/retry.js';
import { type Io, UsageError } from '../io.js';
import { addFormOptions, type FormOptions, readForm } from '../options/import-form.js';
import { ServerClient } from '../server-client.js';
import { settingOption } from '../settings/settings.js';
import { readStoreSettings, runOnStore } from '../store-command.js';
import { printJson, printLine } from '../terminal/output.js';
import { startProgress } from '../terminal/progress.js';

interface ImportOptions extends FormOptions {
  readonly project: string;
  readonly strict?: boolean;
  readonly url?: string;
  readonly json?: boolean;
}

export function addImportCommand(program: Command, io: Io, fail: () => void): void {
  const command = program
    .command('import')
    .description(
      'records the queries of files; recorded queries count as duplicates, so you can repeat an import',
    )
    .argument('<file...>', 'files to read, plain, gzip or Zstandard; - for stdin')
    .requiredOption('--project <id>', 'the project to record into');
  addFormOptions(command)
    .option('--strict', 'record nothing if any record is bad')
    .addOption(settingOption('database').conflicts('url'))
    .option(
      '--url <url>',
      'record into a running server, with the key in CALLER_STATS_KEY, instead of the database',
    )
    .option('--json', 'print the totals as JSON')
    .addHelpText(
      'after',
      '\nWithout --format, files that end in .csv (.csv.gz, .csv.zst) are CSV and all others NDJSON. stderr names each bad\n' +
        'record by file, line and reason; all others are recorded, and the exit status is 1.',
    )
    .action(async (files: string[], options: ImportOptions) => {
      const form = await readForm(options);
      if (files.filter((file) => file === '-').length > 1) throw new UsageError(['FILE: - is given twice']);
      const sources = await Promise.all(files.map((file) => openSource(file, io.stdin)));
      const totals = await withSink(options, io, (sink) => importWith(sources, form, options, sink, io));
      if (options.json) printJson(io.stdout, totals);
      else printLine(io.stdout, describeTotals(totals));
      if (totals.bad > 0) fail();
    });
}

async function importWith(
  sources: readonly Source[],
  form: Form,
  { strict, project }: ImportOptions,
  sink: (projectId: string) => Sink,
  io: Io,
): Promise<ImportTotals> {
  const toProject = sink(project);
  // Check that the project exists before reading anything.
  await toProject([]);
  const sizes = sources.map(({ sizeBytes }) => sizeBytes);
  const totalBytes = sizes.reduce(
    (sum, size) => (sum === undefined || size === undefined ? undefined : sum + size),
    0,
  );
  const progress = await startProgress(io, totalBytes);
  try {
    return await runImport({
      sources,
      selectReader: (name) => selectReader(form, name),
      strict: strict ?? false,
      sink: toProject,
      clock: io.clock,
      progress,
    });
  } finally {
    progress.stop();
  }
}

async function withSink<T>(
  { url, ...options }: ImportOptions,
  io: Io,
  work: (sink: (projectId: string) => Sink) => Promise<T>,
): Promise<T> {
  const note = (line: string) => printLine(io.stderr, line);
  if (url !== undefined) {
    const client = new ServerClient(url, io);
    return work((projectId) => (queries) => client.record(projectId, queries, note));
  }
  const settings = readStoreSettings(options, io);
  return runOnStore(
    settings,
    (store) =>
      work(
        (projectId) => (queries) => retryWhileUnavailable(() => store.record(projectId, queries), { note }),
      ),
    { mustExist: true, lowMemory: true },
  );
}
