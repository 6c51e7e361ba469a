#!/usr/bin/env node
/** The program: hands the process to the command line. */
import { randomInt } from 'node:crypto';
import { readFileSync } from 'node:fs';
import { run } from './cli/program.js';
import { maskPassword } from './cli/settings/setting.js';

const packageFolder = new URL('..', import.meta.url);

const { version } = JSON.parse(readFileSync(new URL('package.json', packageFolder), 'utf8')) as {
  version: string;
};

// Any user of the machine can list processes and their arguments.
const shownArguments = process.argv.map(maskPassword);
if (shownArguments.join() !== process.argv.join()) process.title = shownArguments.join(' ');

const args = process.argv.slice(2);

process.stdout.on('error', ({ code, message }: NodeJS.ErrnoException) => {
  // A reader may close our output early, as `head` does. That is not a failure.
  if (code === 'EPIPE') return;
  process.stderr.write(`caller-stats: The output cannot be written, and is incomplete: ${message}.\n`);
  process.exit(1);
});
// A server whose log is on a full disk still counts.
process.stderr.on('error', () => undefined);

process.exitCode = await run(
  args,
  {
    stdout: process.stdout,
    stdoutIsTerminal: process.stdout.isTTY ?? false,
    stderr: process.stderr,
    stdin: process.stdin,
    interactive: process.stderr.isTTY ?? false,
    colors: process.stderr.isTTY && process.stderr.hasColors(),
    env: process.env,
    clock: { now: () => Date.now() },
    monotonicMs: () => performance.now(),
    randomInt,
    stopRequested: () =>
      new Promise((resolve) => {
        for (const signal of ['SIGTERM', 'SIGINT'] as const) process.once(signal, resolve);
      }),
    onHangup: (listener) => {
      process.on('SIGHUP', listener);
    },
    packageFolder,
  },
  version,
);

// Wait until a slow reader has received all output.
await new Promise((resolve) => process.stdout.write('', resolve));

// The command has ended. If something keeps the process running, such as a request that cannot be finished, exit anyway.
setTimeout(() => process.exit(), 1000).unref();
