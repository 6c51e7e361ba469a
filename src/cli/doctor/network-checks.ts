/** The checks of `caller-stats doctor` on addresses: the port and the public URL. */
import { createServer } from 'node:net';
import type { Clock } from '../../domain/time/clock.js';
import { secondMs } from '../../domain/time/duration.js';
import { request } from '../../shared/api-client.js';
import { listenProblem, localUrl } from '../server/listen.js';
import type { ServerSettings } from '../settings/server-settings.js';
import { safeWebAddress } from '../settings/setting.js';
import { SETTINGS } from '../settings/settings.js';
import type { Finding } from './findings.js';

const answerTimeoutMs = 5 * secondMs;

export async function checkNetwork(settings: ServerSettings, clock: Clock): Promise<Finding[]> {
  const { host, port, basePath } = settings;
  const address = `${host}:${port}`;
  const taken = await tryToListen(host, port);
  const isRunning =
    taken?.code === 'EADDRINUSE' &&
    (await askServer(`${localUrl(host, port)}${basePath}`, clock)) === undefined;
  const publicUrl = await checkPublicUrl(settings, isRunning, clock);
  if (isRunning)
    return [{ check: 'port', status: 'ok', message: `a caller-stats serves ${address}` }, publicUrl];
  if (taken === undefined) return [{ check: 'port', status: 'ok', message: `${address} is free` }, publicUrl];
  const flags = { host, port, hostFlag: SETTINGS.host.flag, portFlag: SETTINGS.port.flag };
  const [what, advice] = listenProblem(taken, flags).replace(/\.$/, '').split('; ');
  const found = { check: 'port', status: 'problem', message: `${address} ${what}` } as const;
  return [advice === undefined ? found : { ...found, advice }, publicUrl];
}

/** Returns the error; undefined if a server could listen. */
function tryToListen(host: string, port: number): Promise<NodeJS.ErrnoException | undefined> {
  return new Promise((resolve) => {
    const server = createServer();
    server.once('error', resolve);
    server.listen({ host, port }, () => server.close(() => resolve(undefined)));
  });
}

/** Returns why the address is not that of a caller-stats; undefined if it is. */
async function askServer(baseUrl: string, clock: Clock): Promise<string | undefined> {
  const init = { redirect: 'manual', signal: AbortSignal.timeout(answerTimeoutMs) } as const;
  const transport = {
    fetch: (url: string, options: RequestInit) => fetch(url, options),
    now: () => clock.now(),
  };
  try {
    const answer = await request(transport, `${baseUrl}/livez`, init);
    const isOurs = (answer as { readonly status?: unknown } | null)?.status === 'live';
    return isOurs ? undefined : `the answer of ${baseUrl}/livez is not that of caller-stats`;
  } catch (error) {
    return error instanceof Error ? error.message : String(error);
  }
}

async function checkPublicUrl(settings: ServerSettings, isRunning: boolean, clock: Clock): Promise<Finding> {
  const { host, publicUrl, basePath } = settings;
  const check = 'public URL';
  const flag = `--${SETTINGS.publicUrl.flag}`;
  if (publicUrl === null) {
    const message = 'is not set';
    if (/^(localhost|127(\.\d+){3}|::1)$/.test(host))
      return { check, status: 'ok', message: `${message}; only this machine reaches ${host}` };
    const advice = `set ${flag} to the address that users type`;
    return { check, status: 'warning', message: `${message}, so links lead to ${host}`, advice };
  }
  if (!safeWebAddress(publicUrl).ok) {
    const message = `${publicUrl} has no TLS: passwords and cookies can be read on the way`;
    return { check, status: 'warning', message, advice: 'put a proxy with TLS in front; see docs/install' };
  }
  if (!isRunning) {
    const message = `${publicUrl} was not tried: no server is running; start it and run this command again`;
    return { check, status: 'ok', message };
  }
  const problem = await askServer(`${publicUrl}${basePath}`, clock);
  if (problem === undefined) return { check, status: 'ok', message: `${publicUrl} leads to a caller-stats` };
  const advice = `check DNS, the certificate and the proxy, or correct ${flag}`;
  return { check, status: 'problem', message: problem, advice };
}
