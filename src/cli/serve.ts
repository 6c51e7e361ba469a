/** `caller-stats serve`: the server, from start to stop. */
import { fileURLToPath } from 'node:url';
import type { Command } from 'commander';
import type { FastifyInstance } from 'fastify';
import type { DestinationStream } from 'pino';
import { CallerStatsError } from '../domain/errors.js';
import { shutdownTimeoutMs } from '../domain/limits.js';
import type { Store } from '../storage/store.js';
import { keepClean } from './clean-up.js';
import { welcomer } from './first-run.js';
import type { Io } from './io.js';
import { keepAuditLog } from './keep-audit-log.js';
import { telemetryRulesOf } from './otlp-settings.js';
import { printLine } from './output.js';
import { flagsOf, readSettings, SERVER_SETTINGS, settingOption } from './settings.js';
import { singleSignOnOf } from './single-sign-on.js';
import { whenAvailable } from './when-available.js';
import { openWithSettings } from './with-store.js';

const settingNames = Object.keys(SERVER_SETTINGS) as (keyof typeof SERVER_SETTINGS)[];

/** What `npm run build` made of the dashboard. */
const pages = fileURLToPath(new URL('../dashboard', import.meta.url));

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
      const settings = readSettings(settingNames, { ...options }, io.env);
      const singleSignOn = singleSignOnOf(settings);
      // As late as all that only a server needs: every other command would wait for it.
      const { pino } = await import('pino');
      const log = pino({ level: settings.logLevel }, io.stderr as unknown as DestinationStream);
      // Listened for from now on: who stops the server while it starts is heard as well.
      const stopRequested = io.stopRequested();
      const stop = new AbortController();
      const stopped = stopRequested.finally(() => stop.abort());
      // A database server may be started after this one, or be away for a while: that is no reason to end.
      const store = await openWithSettings(settings, { mayBeAway: true });
      let app: FastifyInstance | undefined;
      try {
        // Loaded here, because the other commands would wait for it in vain.
        const { buildApp } = await import('../http/app.js');
        app = await buildApp({
          store,
          clock: io.clock,
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
          users: {
            publicUrl: settings.publicUrl ?? undefined,
            secret: settings.secret ?? undefined,
            singleSignOn,
            randomInt: io.randomInt,
          },
          log,
        });
        const url = await listen(app, settings);
        log.info({ url }, 'listening');
        printLine(io.stdout, `caller-stats listens on ${url}`);
        const start = {
          url,
          pagesUrl: settings.publicUrl ?? url,
          vendor: settings.keyPrefix,
          keyLifeMax: settings.keyLifeMax,
          demo: options.demo ?? false,
        };
        await whenAvailable(welcomer(store, start, io), { signal: stop.signal, log });
        void keepAuditLog(store, { days: settings.auditDays, clock: io.clock, signal: stop.signal, log });
        void keepClean(store, { clock: io.clock, signal: stop.signal, log });
        log.info({ signal: await stopped }, 'stopping');
      } finally {
        await finish(app, store);
        log.info('stopped');
      }
    });
}

/** Starts to listen; gives an address that a browser on this machine can open. */
async function listen(app: FastifyInstance, { host, port }: { host: string; port: number }): Promise<string> {
  try {
    await app.listen({ host, port });
  } catch (error) {
    throw new CallerStatsError(
      'unavailable',
      `${host}:${port} ${listenProblem(error as NodeJS.ErrnoException)}`,
      {
        cause: error,
      },
    );
  }
  const address = app.server.address();
  const bound = typeof address === 'object' && address !== null ? address.port : port;
  const reachable = host === '0.0.0.0' || host === '::' ? '127.0.0.1' : host;
  return `http://${reachable.includes(':') ? `[${reachable}]` : reachable}:${bound}`;
}

function listenProblem({ code, message }: NodeJS.ErrnoException): string {
  if (code === 'EADDRINUSE') return 'is in use by another program; choose another with --port.';
  if (code === 'EACCES') return 'may not be used by this user; choose a port from 1024 up with --port.';
  if (code === 'EADDRNOTAVAIL' || code === 'ENOTFOUND')
    return 'is no address of this machine; choose one with --host.';
  return `cannot be listened on: ${message}`;
}

/** Finishes what was accepted: requests first, then what they wrote. Gives up, loudly, after a while. */
async function finish(app: FastifyInstance | undefined, store: Store): Promise<void> {
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
  const stopped = (async () => {
    await app?.close();
    await store.close();
  })();
  try {
    await Promise.race([stopped, timeout]);
  } finally {
    clearTimeout(timer);
  }
}
