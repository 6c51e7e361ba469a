import type { Logger } from 'pino';
import type { Io } from '../io.js';
import type { Values } from '../settings/settings.js';

/** The log on stderr: JSON lines, or lines that are easy to read if stderr is a terminal. */
export async function openLog(
  { logLevel }: Values<'logLevel'>,
  io: Pick<Io, 'stderr' | 'interactive' | 'colors'>,
): Promise<Logger> {
  // Loaded only here, because other commands do not need it.
  const { pino } = await import('pino');
  if (!io.interactive) return pino({ level: logLevel }, { write: (line) => void io.stderr.write(line) });
  const { prettyFactory } = await import('pino-pretty');
  const format = prettyFactory({
    colorize: io.colors,
    translateTime: 'SYS:yyyy-mm-dd HH:MM:ss.l',
    ignore: 'pid,hostname',
    singleLine: true,
  });
  return pino({ level: logLevel }, { write: (line) => void io.stderr.write(format(line)) });
}
