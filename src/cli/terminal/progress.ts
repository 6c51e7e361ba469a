import type { Progress } from '../../app/progress.js';
import { formatCount } from '../../domain/format.js';
import type { Io } from '../io.js';

/**
 * `total` is in the units of `advance`: stored bytes of files, queries of a store. It is undefined where nobody knows
 * how much there is, as for stdin.
 */
export async function startProgress(io: Io, total: number | undefined): Promise<Progress> {
  if (!io.interactive) {
    return {
      advance: () => {},
      show: () => {},
      note: (line) => io.stderr.write(`${line}\n`),
      stop: () => {},
    };
  }
  // Only where it is shown: every command would wait for it to be loaded.
  const { SingleBar } = await import('cli-progress');
  const bar = new SingleBar({
    stream: io.stderr as NodeJS.WritableStream,
    format:
      total === undefined
        ? '{read} read | {rate}/s'
        : '{bar} {percentage}% | {read} read | {rate}/s | {eta_formatted} left',
    // The time left follows the pace of the last hundred updates, not of a moment.
    etaBuffer: 100,
    clearOnComplete: true,
    barsize: 30,
    // Nothing of the terminal is changed, so that Ctrl-C can end the process at once and leave nothing to be mended.
    hideCursor: false,
    linewrap: true,
    gracefulExit: false,
  });
  let done = 0;
  const startedAt = io.clock.now();
  bar.start(total ?? 0, 0, { read: '0', rate: '0' });
  return {
    advance: (amount) => {
      done += amount;
    },
    show: (read) => {
      // By the time since the start; a clock that was set back meanwhile makes it wrong, and nothing else.
      const seconds = Math.max(io.clock.now() - startedAt, 1) / 1000;
      bar.update(done, { read: formatCount(read), rate: formatCount(Math.round(read / seconds)) });
    },
    note: (line) => {
      // Clears the bar's line first; the bar draws itself again at its next update.
      io.stderr.write(`\r\u001b[K${line}\n`);
    },
    stop: () => bar.stop(),
  };
}
