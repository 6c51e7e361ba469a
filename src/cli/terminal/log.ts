import type { DestinationStream, Logger } from 'pino';
import type { Io } from '../io.js';

export interface LogSettings {
  readonly logLevel: string;
  readonly logFormat: 'auto' | 'json' | 'pretty';
}

/** The log, on stderr: a line of JSON for each entry, or, where a person is watching, one that is easy to read. */
export async function openLog({ logLevel, logFormat }: LogSettings, io: Io): Promise<Logger> {
  // As late as all that only a server needs: every other command would wait for it.
  const { pino } = await import('pino');
  if (logFormat === 'json' || (logFormat === 'auto' && !io.interactive))
    return pino({ level: logLevel }, io.stderr as unknown as DestinationStream);
  const { prettyFactory } = await import('pino-pretty');
  const format = prettyFactory({
    colorize: io.colors,
    translateTime: 'SYS:yyyy-mm-dd HH:MM:ss.l',
    ignore: 'pid,hostname',
    singleLine: true,
  });
  return pino({ level: logLevel }, { write: (line) => void io.stderr.write(format(line)) });
}
