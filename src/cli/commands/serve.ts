/** `caller-stats serve`: the server, from start to stop. */
import { versions } from 'node:process';
import { fileURLToPath } from 'node:url';
import type { Command } from 'commander';
import type { FastifyInstance } from 'fastify';
import type { Logger } from 'pino';
import { createFirstRun } from '../../app/first-run.js';
import { ClockWatch, findNewestTime } from '../../app/jobs/clock-watch.js';
import { runCorrections } from '../../app/jobs/corrections.js';
import type { JobContext } from '../../app/jobs/job.js';
import { runAuditPruning, runIngestionPruning, runPurging, runRetention } from '../../app/jobs/purge.js';
import { watchServers } from '../../app/jobs/watch-servers.js';
import { CallerStatsError } from '../../domain/errors.js';
import { shutdownTimeoutMs } from '../../domain/limits.js';
import type { Clock } from '../../domain/time/clock.js';
import { secondMs } from '../../domain/time/duration.js';
import { ZONE_DATA_ORIGIN } from '../../domain/time/time-zone.js';
import type { AppOptions } from '../../http/app.js';
import type { Tracing, TracingOptions } from '../../observability/tracing/tracing.js';
import { withDeadline } from '../../shared/deadline.js';
import { later } from '../../shared/later.js';
import type { Store } from '../../storage/ports/store.js';
import { judgeNode } from '../doctor/findings.js';
import { type Io, UsageError } from '../io.js';
import { BreachedPasswords } from '../server/breached-passwords.js';
import { listen, localUrl } from '../server/listen.js';
import { openMetrics, serveMetrics } from '../server/metrics.js';
import { openPrivateOutput } from '../server/private-output.js';
import { retryUntilAvailable } from '../server/retry-until-available.js';
import { findSecrets } from '../server/secret-file.js';
import { tellReady } from '../server/tell-ready.js';
import { readServerSettings, type ServerSettings } from '../settings/server-settings.js';
import { SERVER_SETTING_NAMES, SETTINGS, settingOption } from '../settings/settings.js';
import { unknownVariables } from '../settings/unknown-variables.js';
import { openWithSettings } from '../store-command.js';
import { openLog } from '../terminal/log.js';
import { printLine } from '../terminal/output.js';

export function addServeCommand(program: Command, io: Io, version: string): void {
  const command = program
    .command('serve')
    .description(
      'runs the server; on an empty database, creates a first project with keys and shows them once',
    );
  for (const name of SERVER_SETTING_NAMES) {
    if (!SETTINGS[name].environmentOnly) command.addOption(settingOption(name));
  }
  command
    .option('--demo', 'on an empty database, create two projects with sample data')
    .addHelpText(
      'after',
      '\nStops at SIGTERM or SIGINT: finishes accepted requests and refuses new ones. SIGHUP does the same on a\n' +
        'terminal, which has been closed then; elsewhere it is ignored: settings are read at the start.',
    )
    .action(async (options: { readonly demo?: boolean }) => {
      const settings = readServerSettings(options, io.env);
      const breachedPasswords = await openBreachedPasswords(settings);
      const log = await openLog(settings, io);
      for (const problem of unknownVariables(io.env)) log.warn(problem);
      // Listen from now on, so that a signal also stops a server that is still starting.
      const stopRequested = Promise.race([io.stopRequested(), closedTerminal(io, log)]);
      const stop = new AbortController();
      const stopped = stopRequested.finally(() => stop.abort());
      const metrics = await openMetrics(settings, io, version);
      const tracing = await openTracing(settings.tracing, { version, log, clock: io.clock });
      const clockWatch = new ClockWatch({ ...io, log });
      const opening = openWithSettings(settings, {
        // The database may become available later.
        allowUnavailable: true,
        commits: metrics,
        onBackup: (copy) => log.warn({ copy }, 'the database was of an older version; a copy of it is kept'),
      });
      // The app loads while the thread of the database starts.
      const [opened] = await Promise.all([opening, loadApp()]);
      const store = tracing?.follow(opened) ?? opened;
      let app: FastifyInstance | undefined;
      let metricsApp: FastifyInstance | undefined;
      try {
        metricsApp = await serveMetrics(metrics, settings, { store, log, io });
        const observers = { metrics, tracing, log, clockWatch };
        app = await makeApp(store, settings, io, { ...observers, version, breachedPasswords });
        const port = await listen(app, { ...settings, hostFlag: 'host', portFlag: 'port' });
        const url = `${localUrl(settings.host, port)}${settings.basePath}`;
        const judged = judgeNode(versions.node, io.clock.now());
        const node = judged === undefined ? versions.node : `${judged.message}; ${judged.advice}`;
        log.info({ url, timeZones: ZONE_DATA_ORIGIN, node }, 'listening');
        printLine(io.stdout, `caller-stats listens on ${url}`);
        printLine(io.stdout, `Time zones: ${ZONE_DATA_ORIGIN}`);
        const { publicUrl, basePath, keyPrefix, keyLifeMax } = settings;
        const pagesUrl = publicUrl === null ? url : `${publicUrl}${basePath}`;
        const started = { url, pagesUrl, keyPrefix, keyLifeMax, demo: options.demo ?? false };
        const firstRun = createFirstRun(store, started, {
          ...io,
          print: (line) => printLine(io.stdout, line),
          operator: openPrivateOutput(settings, io),
          warn: (line) => printLine(io.stderr, line),
        });
        const job = { clock: io.clock, signal: stop.signal, log };
        await retryUntilAvailable(
          async () => {
            clockWatch.begin(await findNewestTime(store, io.clock.now()));
            // Not at the first sign-in, so that backups made before do not contain a secret of an earlier version.
            await findSecrets(settings, store, log);
            await firstRun();
          },
          { ...job, onFirstAttempt: () => tellReady(io.env, log) },
        );
        runJobs(store, settings, { ...job, clockWatch });
        log.info({ signal: await stopped }, 'stopping');
      } finally {
        await finish(async () => {
          await app?.close();
          await store.close();
          // Metrics are available until the end.
          await Promise.all([metricsApp?.close(), tracing?.close()]);
        });
        log.info('stopped');
      }
    });
}

/** Removing deleted projects, applying corrections and watching the servers do not depend on the clock. */
function runJobs(
  store: Store,
  { auditDays }: ServerSettings,
  context: JobContext & { readonly clock: Clock; readonly clockWatch: ClockWatch },
): void {
  const byClock = { ...context, clock: context.clockWatch };
  void runAuditPruning(store, { ...byClock, days: auditDays });
  void runRetention(store, byClock);
  void runIngestionPruning(store, byClock);
  const always = { ...context, clockWatch: undefined };
  void runPurging(store, always);
  void runCorrections({ store, clock: context.clock }, always);
  void watchServers(store, always);
}

/** Resolves when the server's terminal is closed. A server without one ignores the signal, which often asks for a reload. */
function closedTerminal({ stdoutIsTerminal, interactive, onHangup }: Io, log: Logger): Promise<string> {
  return new Promise((resolve) => {
    onHangup(() => {
      if (stdoutIsTerminal || interactive) resolve('SIGHUP');
      else log.warn('SIGHUP is ignored: a change of the settings needs a restart');
    });
  });
}

/** Loaded apart, because other commands do not need it. */
const loadApp = () => import('../../http/app.js');

const loadTools = later(async () => {
  const tools = await import('../../mcp/server.js');
  await tools.rehearse();
  return tools;
});

async function makeApp(
  store: Store,
  settings: ServerSettings,
  io: Io,
  {
    version,
    breachedPasswords,
    ...observers
  }: Pick<AppOptions, 'metrics' | 'tracing' | 'log' | 'clockWatch'> & {
    readonly version: string;
    readonly breachedPasswords: BreachedPasswords | undefined;
  },
): Promise<FastifyInstance> {
  const { buildApp } = await loadApp();
  return buildApp({
    ...observers,
    store,
    clock: io.clock,
    basePath: settings.basePath,
    limits: settings,
    trustProxy: settings.trustProxy,
    dashboard: {
      pages: fileURLToPath(new URL('dist/dashboard', io.packageFolder)),
      singleSignOn: settings.singleSignOn !== undefined,
      keyPrefix: settings.keyPrefix,
      keyLifeMax: settings.keyLifeMax,
      shareLinks: settings.shareLinks,
      randomInt: io.randomInt,
      version,
    },
    docs: fileURLToPath(new URL('dist/docs', io.packageFolder)),
    notifications: { mail: settings.mail ?? undefined, privateNetworks: settings.notificationNetworks },
    mcp: async (call) => {
      const { answerToolRequest } = await loadTools();
      const report = (message: string) => observers.log.error(message);
      return answerToolRequest(call, { clock: io.clock, version, report });
    },
    users: {
      publicUrl: settings.publicUrl ?? undefined,
      secrets: () => findSecrets(settings, store),
      singleSignOn: settings.singleSignOn,
      breachedPasswords,
      legacyAlgorithms: settings.legacyAlgorithms,
      randomInt: io.randomInt,
    },
  });
}

/** Throws `UsageError` if the file is not one of breached passwords. */
async function openBreachedPasswords({
  breachedPasswords: file,
}: ServerSettings): Promise<BreachedPasswords | undefined> {
  if (file === null) return undefined;
  const breached = new BreachedPasswords(file);
  try {
    await breached.check();
  } catch (error) {
    const { flag } = SETTINGS.breachedPasswords;
    throw new UsageError([`--${flag}: ${file} cannot be used: ${(error as Error).message}`]);
  }
  return breached;
}

/** The tracing library is loaded only if traces are sent somewhere. */
async function openTracing(
  settings: ServerSettings['tracing'],
  options: Omit<TracingOptions, 'protocol'>,
): Promise<Tracing | undefined> {
  if (settings === undefined) return undefined;
  const { startTracing } = await import('../../observability/tracing/tracing.js');
  return startTracing({ ...settings, ...options });
}

/** Stops the server. Gives up at the deadline. */
function finish(close: () => Promise<void>): Promise<void> {
  const message = `Stopping took longer than ${shutdownTimeoutMs / secondMs} s; gave up.`;
  return withDeadline(shutdownTimeoutMs, () => new CallerStatsError('unavailable', message), close);
}
