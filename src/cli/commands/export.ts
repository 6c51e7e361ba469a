/** `caller-stats export`: prints the recorded queries. */
import { Readable } from 'node:stream';
import { pipeline } from 'node:stream/promises';
import { type Command, Option } from 'commander';
import { exportQueries } from '../../app/export/export.js';
import { EXPORT_FORMATS, type ExportFormat } from '../../app/export/rows.js';
import {
  parseQueriesRequest,
  REPORT_PARAMETER_NAMES,
  REPORT_PARAMETERS,
  type ReportInput,
} from '../../domain/counting/report-request.js';
import { formatTime, toPrintable } from '../../domain/format.js';
import type { ReceiptInput, ReceiptNames } from '../../domain/queries/receipt.js';
import type { WeekStart } from '../../domain/time/calendar.js';
import { type Io, UsageError } from '../io.js';
import { addSourceOptions, requireListed, type SourceOptions } from '../options/count-source.js';
import { addRangeOptions, REPORT_OPTIONS } from '../options/report-range.js';
import { ServerClient } from '../server-client.js';
import { readStoreSettings, runOnStore } from '../store-command.js';
import { printLine } from '../terminal/output.js';

const NAMES: ReceiptNames = {
  recordedFrom: '--recorded-since',
  recordedTo: '--recorded-to',
  recordedBy: '--recorded-by',
};

interface ExportOptions extends SourceOptions, ReportInput, Omit<ReceiptInput, 'recordedFrom'> {
  readonly recordedSince?: string;
  readonly format: ExportFormat;
}

export function addExportCommand(program: Command, io: Io): void {
  const command = program
    .command('export')
    .description("prints a project's recorded queries, which `import` reads")
    .argument('<project>', "the project's id");
  addRangeOptions(command)
    .option('--caller <caller>', 'only the queries of this caller')
    .option('--recorded-since <date>', 'only those that arrived on this UTC day or later')
    .option('--recorded-to <date>', 'only those that arrived before this UTC day')
    .option(
      '--recorded-by <sender>',
      'only those of this sender: key:ID, import:FILE, telemetry:SERVICE, copy, demo or unknown',
    );
  addSourceOptions(command)
    .addOption(
      new Option('--format <format>', 'ndjson: one JSON object per line; csv: with a header line')
        .choices(EXPORT_FORMATS)
        .default('ndjson'),
    )
    .action((projectId: string, options: ExportOptions) => runExport(projectId, options, io));
}

async function runExport(projectId: string, given: ExportOptions, io: Io): Promise<void> {
  const options = { ...given, recordedFrom: given.recordedSince };
  const { format, organization, url } = options;
  const ask = (weekStart: WeekStart | null) => {
    const asked = parseQueriesRequest(
      options,
      { nowMs: io.clock.now(), names: REPORT_OPTIONS, weekStart },
      NAMES,
    );
    if (!asked.ok) throw new UsageError(asked.problems);
    return asked.value;
  };
  // Before a database or server is needed.
  ask(null);
  if (url !== undefined) {
    const { recordedFrom, recordedTo, recordedBy } = options;
    const parameters = {
      ...Object.fromEntries(
        REPORT_PARAMETERS.queries.map((one) => [REPORT_PARAMETER_NAMES[one], options[one]]),
      ),
      ...{ recordedFrom, recordedTo, recordedBy },
    };
    const accept = format === 'csv' ? 'text/csv' : 'application/x-ndjson';
    const client = new ServerClient(url, io);
    return write(client.download(projectId, 'queries', parameters, accept), io);
  }
  return runOnStore(readStoreSettings(options, io), async (store) => {
    const project = await requireListed(store, organization, projectId);
    if (project.rowsFrom !== null) {
      const removed = `Retention has removed the queries from before ${formatTime(project.rowsFrom)}`;
      printLine(io.stderr, `${removed}: they still count, but are not among those that are printed.`);
    }
    await write(exportQueries(store, { ...ask(project.weekStart), projectId, format }), io);
  });
}

/** Waits for slow readers. What a program reads is exactly what was recorded; a terminal gets no control characters. */
async function write(
  parts: AsyncIterable<string | Uint8Array>,
  { stdout, stdoutIsTerminal }: Io,
): Promise<void> {
  const decoder = new TextDecoder();
  const printable = async function* (): AsyncGenerator<string> {
    for await (const part of parts) {
      yield toPrintable(typeof part === 'string' ? part : decoder.decode(part, { stream: true }));
    }
  };
  try {
    await pipeline(Readable.from(stdoutIsTerminal ? printable() : parts), stdout, { end: false });
  } catch (error) {
    // A reader that has read enough, such as `head`, closes our output.
    if ((error as NodeJS.ErrnoException).code !== 'EPIPE') throw error;
  }
}
