import type { Logger } from 'pino';
import { toPrintable } from '../../domain/format.js';
import type { Io } from '../io.js';
import type { Values } from '../settings/settings.js';

/** What JSON leaves as it is, although terminals obey it or show what follows in another order, or take it as the end of a line. */
const OBEYED = /[\u007f-\u009f\u2028\u2029\p{Bidi_Control}]/gu;

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
  const escaped = (one: string) => `\\u${one.charCodeAt(0).toString(16).padStart(4, '0')}`;
  if (!io.interactive)
    return pino(options, { write: (line) => void io.stderr.write(line.replaceAll(OBEYED, escaped)) });
  const { prettyFactory } = await import('pino-pretty');
  const format = prettyFactory({
    colorize: io.colors,
    translateTime: 'SYS:yyyy-mm-dd HH:MM:ss.l',
    ignore: 'pid,hostname',
    singleLine: true,
  });
  // What a stranger sent may be quoted in each text; only our own colors may command the terminal.
  const printable = (key: string, value: unknown) =>
    typeof value === 'string' ? toPrintable(key === 'msg' ? value.replaceAll(/\s+/g, ' ') : value) : value;
  return pino(options, { write: (line) => void io.stderr.write(format(JSON.parse(line, printable))) });
}
