/** `caller-stats import` for OTLP files. */

import { openSource } from '../../../app/import/file/source.js';
import { type SentTotals, sendFiles } from '../../../app/import/otlp-files.js';
import { formatCount } from '../../../domain/format.js';
import { listNames } from '../../../http/otlp/json.js';
import { LOGS, TRACES } from '../../../http/otlp/signals.js';
import { type Io, UsageError } from '../../io.js';
import { ServerClient } from '../../server-client.js';
import { toFlag } from '../../settings/setting.js';
import { printLine } from '../../terminal/output.js';
import { withProgress } from '../../terminal/progress.js';

interface OtlpOptions {
  readonly project: string;
  readonly url?: string;
}

/** The options that apply. All others are about finding queries, which the server does. */
const OPTIONS: readonly string[] = ['format', 'project', 'url', 'json'];

export async function importOtlp(files: readonly string[], options: OtlpOptions, io: Io) {
  const { project, url } = options;
  const problems = Object.keys(options)
    .filter((name) => !OPTIONS.includes(name))
    .map((name) => `--${toFlag(name)}: does not apply to --format otlp`);
  if (url === undefined) problems.push('--url: is missing; a running server finds the queries in OTLP files');
  if (files.filter((file) => file === '-').length > 1) problems.push('FILE: - is given twice');
  if (url === undefined || problems.length > 0) throw new UsageError(problems);
  const client = new ServerClient(url, io);
  const sources = await Promise.all(files.map((file) => openSource(file, io.stdin)));
  const note = (line: string) => printLine(io.stderr, line);
  const signals = [TRACES, LOGS].map((signal) => ({ path: signal.path, lists: listNames(signal) }));
  const totals = await withProgress(io, undefined, (progress) =>
    sendFiles({
      sources,
      signals: signals.map(({ lists }) => lists),
      send: (sent, message) => {
        const { path } = signals.find(({ lists }) => lists === sent) ?? TRACES;
        return client.sendTelemetry(project, path, message, note);
      },
      progress,
    }),
  );
  return { json: totals, text: describe(totals), failed: totals.bad > 0 };
}

function describe({ sent, bad, skipped }: SentTotals): string {
  const others = Object.entries({ bad, skipped }).filter(([, count]) => count > 0);
  const parts: [string, number][] = [['spans and log records sent', sent], ...others];
  return parts.map(([name, count]) => `${formatCount(count)} ${name}`).join(', ');
}
