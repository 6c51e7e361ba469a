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
  const options = {
    level: logLevel,
    serializers: {
      // Joins the message of an error, which may end with a full stop, and that of its cause with a colon.
      err(thrown: unknown) {
        if (!(thrown instanceof Error)) return thrown;
        const logged = pino.stdSerializers.err(thrown);
        logged.message = logged.message.replaceAll('.: ', ': ');
        return logged;
      },
    },
  };
  if (!io.interactive) return pino(options, { write: (line) => void io.stderr.write(line) });
  const { prettyFactory } = await import('pino-pretty');
  const format = prettyFactory({
    colorize: io.colors,
    translateTime: 'SYS:yyyy-mm-dd HH:MM:ss.l',
    ignore: 'pid,hostname',
    singleLine: true,
  });
  return pino(options, { write: (line) => void io.stderr.write(format(line)) });
}
