/** Loaded into a server before its own code: its clock is shifted at the start, and by the next of the given milliseconds at each SIGUSR2. */
import { isMainThread } from 'node:worker_threads';

const shifts = (process.env.FAULT_CLOCK_SHIFTS ?? '').split(',').map(Number);
const RealDate = Date;
let shiftMs = Number(process.env.FAULT_CLOCK_START ?? 0);

globalThis.Date = class extends RealDate {
  constructor(...given) {
    if (given.length === 0) super(RealDate.now() + shiftMs);
    else super(...given);
  }

  static now() {
    return RealDate.now() + shiftMs;
  }
};

if (isMainThread) {
  process.on('SIGUSR2', () => {
    shiftMs = shifts.shift() ?? 0;
    process.stdout.write(`the clock is off by ${shiftMs} ms\n`);
  });
}
