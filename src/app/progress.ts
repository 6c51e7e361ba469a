/** How far a long operation is. The command line shows it where a person is watching. */
export interface Progress {
  /** How much of the total is done since the last call. */
  readonly advance: (amount: number) => void;
  /** Records read so far. */
  readonly show: (read: number) => void;
  /** A line for the user. */
  readonly note: (line: string) => void;
  readonly stop: () => void;
}
