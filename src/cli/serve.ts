/** `caller-stats serve`: the server, from start to stop. */
import { fileURLToPath } from 'node:url';
import type { Command } from 'commander';
import type { FastifyInstance } from 'fastify';
import { CallerStatsError } from '../domain/errors.js';
import { shutdownTimeoutMs } from '../domain/limits.js';
import { keepClean } from './clean-up.js';
import { welcomer } from './first-run.js';
import { allOrProblems, type Io } from './io.js';
import { keepAuditLog } from './keep-audit-log.js';
import { listen } from './listen.js';
import { openLog } from './log.js';
import { openMetrics, serveMetrics } from './metrics.js';
import { telemetryRulesOf } from './otlp-settings.js';
import { printLine } from './output.js';
import { flagsOf, readSettings, SERVER_SETTINGS, settingOption } from './settings.js';
import { singleSignOnOf } from './single-sign-on.js';
import { openTracing, tracingSettingsOf } from './tracing.js';
import { whenAvailable } from './when-available.js';
import { openWithSettings } from './with-store.js';

const settingNames = Object.keys(SERVER_SETTINGS) as (keyof typeof SERVER_SETTINGS)[];

/** What `npm run build` made of the dashboard. */
const pages = fileURLToPath(new URL('../dashboard', import.meta.url));

/** What it made of the documentation. */
const docs = fileURLToPath(new URL('../docs', import.meta.url));

export function addServeCommand(program: Command, io: Io, version: string): void {
  const serve = program
    .command('serve')
    .description(
      'runs the server; on an empty database, makes a first project and its keys and prints them once',
    );
  for (const name of flagsOf(SERVER_SETTINGS)) serve.addOption(settingOption(name));
  serve
    .option('--demo', 'on an empty database, load a sample of real events')
    .addHelpText(
      'after',
      '\nStops at SIGTERM or SIGINT: what was accepted is finished, what comes after is refused.',
    )
    .action(async (options: { demo?: boolean }) => {
      const [settings, tracingSettings] = allOrProblems(
        () => readSettings(settingNames, { ...options }, io.env),
        () => tracingSettingsOf(io.env),
      );
      const singleSignOn = singleSignOnOf(settings);
      const log = await openLog(settings, io);
      // Listened for from now on: who stops the server while it starts is heard as well.
      const stopRequested = io.stopRequested();
      const stop = new AbortController();
      const stopped = stopRequested.finally(() => stop.abort());
      // A database server may be started after this one, or be away for a while: that is no reason to end.
      const metrics = await openMetrics(settings, io, version);
      const tracing = await openTracing(tracingSettings, { version, log, clock: io.clock });
      const opened = await openWithSettings(settings, { mayBeAway: true, commits: metrics });
      const store = tracing?.follow(opened) ?? opened;
      let app: FastifyInstance | undefined;
      let metricsApp: FastifyInstance | undefined;
      try {
        // Loaded here, because the other commands would wait for it in vain.
        const { buildApp } = await import('../http/app.js');
        app = await buildApp({
          store,
          clock: io.clock,
          basePath: settings.basePath,
          limits: settings,
          trustProxy: settings.trustProxy,
          telemetry: telemetryRulesOf(settings),
          dashboard: {
            pages,
            version,
            singleSignOnName: singleSignOn?.name,
            keyPrefix: settings.keyPrefix,
            keyLifeMax: settings.keyLifeMax,
            randomInt: io.randomInt,
          },
          docs,
          users: {
            publicUrl: settings.publicUrl ?? undefined,
            secret: settings.secret ?? undefined,
            singleSignOn,
            randomInt: io.randomInt,
          },
          log,
          measures: metrics,
          tracing,
        });
        metricsApp = await serveMetrics(metrics, settings, { store, log, io });
        const origin = await listen(app, { ...settings, hostFlag: 'host', portFlag: 'port' });
        const url = `${origin}${settings.basePath}`;
        log.info({ url }, 'listening');
        printLine(io.stdout, `caller-stats listens on ${url}`);
        const start = {
          url,
          pagesUrl: settings.publicUrl === null ? url : `${settings.publicUrl}${settings.basePath}`,
          vendor: settings.keyPrefix,
          keyLifeMax: settings.keyLifeMax,
          demo: options.demo ?? false,
        };
        await whenAvailable(welcomer(store, start, io), { signal: stop.signal, log });
        void keepAuditLog(store, { days: settings.auditDays, clock: io.clock, signal: stop.signal, log });
        void keepClean(store, { clock: io.clock, signal: stop.signal, log });
        log.info({ signal: await stopped }, 'stopping');
      } finally {
        await finish(async () => {
          await app?.close();
          await store.close();
          await Promise.all([metricsApp?.close(), tracing?.close()]);
        });
        log.info('stopped');
      }
    });
}

/** Finishes what was accepted: requests first, then what they wrote. Gives up, loudly, after a while. */
async function finish(close: () => Promise<void>): Promise<void> {
  let timer: NodeJS.Timeout | undefined;
  const timeout = new Promise<never>((_resolve, reject) => {
    timer = setTimeout(() => {
      reject(
        new CallerStatsError(
          'unavailable',
          `Stopping took longer than ${shutdownTimeoutMs / 1000} s; gave up.`,
        ),
      );
    }, shutdownTimeoutMs);
  });
  try {
    await Promise.race([close(), timeout]);
  } finally {
    clearTimeout(timer);
  }
}
