/** Shows the progress of a long operation. */
export interface Progress {
  /** Adds to the amount that is done. */
  readonly advance: (amount: number) => void;
  /** Records read so far. */
  readonly show: (read: number) => void;
  /** Prints a line. */
  readonly note: (line: string) => void;
}
