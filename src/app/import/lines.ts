import { importLineBytesMax } from '../../domain/limits.js';

const newline = 0x0a;

/** One line of a file, without the LF that ends it; a CR before that is still there. */
export interface Line {
  /** From 1. */
  readonly number: number;
  /** Undefined where the line is longer than `importLineBytesMax`: then nothing of it was kept. */
  readonly bytes: Buffer | undefined;
}

/** The lines of a stream, in memory that does not grow with it. */
export async function* readLines(chunks: AsyncIterable<Buffer>): AsyncGenerator<Line> {
  let number = 0;
  let rest: Buffer = Buffer.alloc(0);
  let skipping = false;
  const lineOf = (bytes: Buffer): Line => {
    number++;
    const tooLong = skipping || bytes.length > importLineBytesMax;
    skipping = false;
    return { number, bytes: tooLong ? undefined : bytes };
  };
  for await (const chunk of chunks) {
    const all = rest.length === 0 ? chunk : Buffer.concat([rest, chunk]);
    let start = 0;
    for (let end = all.indexOf(newline); end !== -1; end = all.indexOf(newline, start)) {
      yield lineOf(all.subarray(start, end));
      start = end + 1;
    }
    rest = all.subarray(start);
    if (rest.length > importLineBytesMax) {
      skipping = true;
      rest = Buffer.alloc(0);
    }
  }
  if (skipping || rest.length > 0) yield lineOf(rest);
}

/** The message for a line of which nothing was kept. */
export const tooLongProblem = `is longer than ${importLineBytesMax} bytes`;
