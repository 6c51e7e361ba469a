/** Starts Firefox, which takes commands on a socket. */
import { EventEmitter, once } from 'node:events';
import { existsSync } from 'node:fs';
import { readFile, writeFile } from 'node:fs/promises';
import { connect } from 'node:net';
import { join } from 'node:path';
import { vi } from 'vitest';
import { whenOver } from '../support/cleanup.js';
import { startCommand } from '../support/cli/cli.js';
import { temporaryFolder } from '../support/temporary.js';
import { type BrowserOptions, Page, patience } from './page.js';

const program = existsSync('/usr/bin/firefox-esr') ? '/usr/bin/firefox-esr' : 'firefox';

type Ask = (command: string, parameters?: object) => Promise<{ readonly value?: unknown }>;

/** A page that can also be printed. */
export class FirefoxPage extends Page {
  readonly #ask: Ask;

  constructor(ask: Ask) {
    super(async (command, parameters) => (await ask(command, parameters)).value);
    this.#ask = ask;
  }

  /** The page on paper, as PDF. */
  async print(): Promise<Buffer> {
    return Buffer.from(String((await this.#ask('WebDriver:Print')).value), 'base64');
  }
}

/** Its reader prefers German, and also lists the English of the United States. */
export async function startFirefox({ blocksSiteData }: BrowserOptions): Promise<FirefoxPage> {
  const profile = await temporaryFolder();
  const preferences = {
    'intl.accept_languages': 'de, en-US',
    // Any port; Firefox writes it to a file.
    'marionette.port': 0,
    ...(blocksSiteData && { 'network.cookie.cookieBehavior': 2 }),
  };
  const lines = Object.entries(preferences).map(
    ([name, value]) => `user_pref(${JSON.stringify(name)}, ${JSON.stringify(value)});\n`,
  );
  await writeFile(join(profile, 'user.js'), lines.join(''));
  startCommand(program, ['--headless', '--marionette', '--profile', profile], {
    env: { HOME: profile },
    hangMs: 0,
  });
  const port = await vi.waitFor(() => readFile(join(profile, 'MarionetteActivePort'), 'utf8'), patience);
  const ask = askAt(Number(port));
  await ask('WebDriver:NewSession');
  return new FirefoxPage(ask);
}

/** Sends commands to a port. A message is JSON after the number of its bytes and a colon. */
function askAt(port: number): Ask {
  const socket = connect(port, '127.0.0.1');
  whenOver(() => socket.destroy());
  const answers = new EventEmitter();
  let received = Buffer.alloc(0);
  socket.on('data', (bytes) => {
    received = Buffer.concat([received, bytes]);
    for (;;) {
      const colon = received.indexOf(':');
      const end = colon + 1 + Number(received.subarray(0, Math.max(colon, 0)));
      if (colon === -1 || received.length < end) return;
      const message = JSON.parse(received.toString('utf8', colon + 1, end)) as unknown;
      received = received.subarray(end);
      // Firefox begins with the version of its protocol.
      if (!Array.isArray(message)) continue;
      const [, id, error, result] = message;
      answers.emit(String(id), error, result);
    }
  });
  let last = 0;
  return async (command, parameters = {}) => {
    const id = ++last;
    const message = JSON.stringify([0, id, command, parameters]);
    const answer = once(answers, String(id));
    socket.write(`${Buffer.byteLength(message)}:${message}`);
    const [error, result] = await answer;
    if (error !== null) throw new Error(`${command}: ${error.error}: ${error.message}`);
    return result;
  };
}
