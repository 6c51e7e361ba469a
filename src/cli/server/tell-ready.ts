/** Tells systemd that the service is ready, if its unit waits for that (`Type=notify`). */
import { spawn } from 'node:child_process';
import type { Logger } from 'pino';
import type { Io } from '../io.js';

/** With systemd's own program, because Node cannot send datagrams to a Unix socket. */
export function tellReady({ NOTIFY_SOCKET, PATH }: Io['env'], log: Logger): void {
  if (!NOTIFY_SOCKET) return;
  const warn = (problem: string) => log.warn({ problem }, 'systemd was not told that the server is ready');
  // Not the other variables, which have secrets.
  const child = spawn('systemd-notify', ['--ready'], { env: { NOTIFY_SOCKET, PATH }, stdio: 'ignore' });
  child.on('error', ({ message }) => warn(message));
  child.on('exit', (status) => {
    if (status !== 0) warn(`systemd-notify ended with status ${status}`);
  });
}
