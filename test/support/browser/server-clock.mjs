/** Moves the clock of a program that loads this first: it begins at the time in `TEST_SERVER_CLOCK`, and runs on from there. */
const RealDate = Date;
const shiftMs = RealDate.parse(process.env['TEST_SERVER_CLOCK'] ?? '') - RealDate.now();

globalThis.Date = class extends RealDate {
  constructor(...args) {
    if (args.length === 0) super(RealDate.now() + shiftMs);
    else super(...args);
  }

  static now() {
    return RealDate.now() + shiftMs;
  }
};
