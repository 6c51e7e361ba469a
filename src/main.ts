#!/usr/bin/env node
/** The program: hands the process to the command line. */
import { randomInt } from 'node:crypto';
import { readFileSync } from 'node:fs';
import { run } from './cli/program.js';
import { maskPassword } from './cli/settings/setting.js';

const { version } = JSON.parse(readFileSync(new URL('../package.json', import.meta.url), 'utf8')) as {
  version: string;
};

// The list of processes is for everybody on the machine to read.
const shownArguments = process.argv.map(maskPassword);
if (shownArguments.join() !== process.argv.join()) process.title = shownArguments.join(' ');

// Whoever reads our output may stop, as `head` does; that is no failure.
process.stdout.on('error', (error: NodeJS.ErrnoException) => {
  if (error.code !== 'EPIPE') throw error;
});

process.exitCode = await run(
  process.argv.slice(2),
  {
    stdout: process.stdout,
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
  },
  version,
);

// Whoever reads our output may be slow, and gets all of it.
await new Promise((resolve) => process.stdout.write('', resolve));

// The command has ended; what still holds the process up a second later (a request that cannot be finished) is let go.
setTimeout(() => process.exit(), 1000).unref();
