import type { Progress } from '../../app/progress.js';
import { formatCount } from '../../domain/format.js';
import type { Io } from '../io.js';
import { printLine } from './output.js';

/**
 * Runs `work`, and shows its progress if stderr is a terminal. `total` is in the units of `advance`, such as bytes or
 * queries; it is undefined if unknown, as for stdin.
 */
export async function withProgress<T>(
  io: Io,
  total: number | undefined,
  work: (progress: Progress) => Promise<T>,
): Promise<T> {
  if (!io.interactive) {
    return work({ advance: () => {}, show: () => {}, note: (line) => printLine(io.stderr, line) });
  }
  // Loaded only here, because other commands do not need it.
  const { SingleBar } = await import('cli-progress');
  const bar = new SingleBar({
    stream: io.stderr as NodeJS.WritableStream,
    format:
      total === undefined
        ? '{read} read | {rate}/s'
        : '{bar} {percentage}% | {read} read | {rate}/s | {eta_formatted} left',
    // Estimate the time left from the last 100 updates.
    etaBuffer: 100,
    clearOnComplete: true,
    barsize: 30,
    // Change no terminal state, so that Ctrl-C can end the process at once.
    hideCursor: false,
    linewrap: true,
    gracefulExit: false,
  });
  let done = 0;
  const startedAt = io.clock.now();
  bar.start(total ?? 0, 0, { read: '0', rate: '0' });
  try {
    return await work({
      advance: (amount) => {
        done += amount;
      },
      show: (read) => {
        // If the clock is set back meanwhile, only this display is wrong.
        const seconds = Math.max(io.clock.now() - startedAt, 1) / 1000;
        bar.update(done, { read: formatCount(read), rate: formatCount(Math.round(read / seconds)) });
      },
      // Clear the line of the bar, which its next update draws again.
      note: (line) => {
        io.stderr.write('\r\u001b[K');
        printLine(io.stderr, line);
      },
    });
  } finally {
    bar.stop();
  }
}
