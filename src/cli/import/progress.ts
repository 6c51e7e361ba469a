import { SingleBar } from 'cli-progress';
import type { Io } from '../io.js';
import { formatCount } from '../output.js';

/** How far an import is, shown while a person watches and silent otherwise. */
export interface Progress {
  /** Stored bytes read since the last call. */
  readonly advance: (bytes: number) => void;
  /** Records read so far. */
  readonly show: (read: number) => void;
  /** Writes a line above the bar. */
  readonly note: (line: string) => void;
  readonly stop: () => void;
}

/** `totalBytes` is undefined where nobody knows how much there is, as for stdin. */
export function startProgress(io: Io, totalBytes: number | undefined): Progress {
  if (!io.interactive) {
    return {
      advance: () => {},
      show: () => {},
      note: (line) => io.stderr.write(`${line}\n`),
      stop: () => {},
    };
  }
  const bar = new SingleBar({
    stream: io.stderr as NodeJS.WritableStream,
    format:
      totalBytes === undefined ? '{read} read' : '{bar} {percentage}% | {read} read | {eta_formatted} left',
    hideCursor: true,
    clearOnComplete: true,
    gracefulExit: true,
    barsize: 30,
  });
  let bytes = 0;
  bar.start(totalBytes ?? 0, 0, { read: '0' });
  return {
    advance: (more) => {
      bytes += more;
    },
    show: (read) => bar.update(bytes, { read: formatCount(read) }),
    note: (line) => {
      // Clears the bar's line first; the bar draws itself again at its next update.
      io.stderr.write(`\r\u001b[K${line}\n`);
    },
    stop: () => bar.stop(),
  };
}
