/** Starts the small browser of WebKitGTK, which takes commands from its driver, and that over HTTP. It needs a display. */
import { vi } from 'vitest';
import { whenOver } from '../support/cleanup.js';
import { kill, startCommand } from '../support/cli/cli.js';
import { freePort } from '../support/free-port.js';
import { temporaryFolder } from '../support/temporary.js';
import { type BrowserOptions, COMMANDS, Page, patience } from './page.js';

export async function startWebKit({ blocksSiteData }: BrowserOptions): Promise<Page> {
  const env = { HOME: await temporaryFolder(), DISPLAY: await startDisplay() };
  const port = await freePort();
  startCommand('WebKitWebDriver', [`--port=${port}`], { env, hangMs: 0 });
  const sessions = `http://127.0.0.1:${port}/session`;
  const args = [
    '--automation',
    // A browser under automation keeps the process of a page, except that this policy moves the page to a new one in the middle of a
    // navigation, where commands can be lost. Only other windows notice the policy.
    '--features=-CrossOriginOpenerPolicy',
    ...(blocksSiteData ? ['--cookies-policy=never', '--enable-html5-local-storage=false'] : []),
  ];
  const capabilities = { alwaysMatch: { 'webkitgtk:browserOptions': { args } } };
  const created = await vi.waitFor(() => ask('POST', sessions, { capabilities }), patience);
  const session = `${sessions}/${(created as { sessionId: string }).sessionId}`;
  // The browser outlives its driver.
  whenOver(() => ask('DELETE', session));
  return new Page((command, parameters = {}) => {
    const [method = '', path = ''] = COMMANDS[command].split(' ');
    return ask(method, `${session}/${path.replace('{id}', String(parameters['id']))}`, parameters);
  });
}

/** Starts a display that nobody sees, and returns its name. */
async function startDisplay(): Promise<string> {
  const args = ['-displayfd', '1', '-screen', '0', '1280x1024x24', '-nolisten', 'tcp'];
  const { pid, ended, printed } = startCommand('Xvfb', args, { hangMs: 0 });
  // It removes its files if it is asked to end.
  whenOver(() => {
    kill(pid, 'SIGTERM');
    return ended;
  });
  return `:${(await printed(/^\d+\n/)).trim()}`;
}

async function ask(method: string, url: string, parameters: object = {}): Promise<unknown> {
  const response = await fetch(url, {
    method,
    ...(method === 'POST' && { body: JSON.stringify(parameters) }),
  });
  const { value } = (await response.json()) as { value: unknown };
  if (!response.ok) {
    const { error, message } = value as { error: string; message: string };
    throw new Error(`${method} ${new URL(url).pathname}: ${error}: ${message}`);
  }
  return value;
}
