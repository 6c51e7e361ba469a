/** A setup as people have it, and how many questions it asks. A row of the table that `traffic.deep.test.ts` prints. */

export interface Row {
  readonly setup: string;
  /** The number of questions that people asked, or what else comes out. */
  readonly correct: number | string;
  /** The number that is counted, where no rule can be right, and what the application has to do. */
  readonly unaided?: { readonly counted: number; readonly help: string };
  /** Does it, and returns what is counted. */
  readonly count: () => Promise<number | string>;
}

/** The same promise for all rows that need it, made when the first of them runs. */
export function once<T>(make: () => Promise<T>): () => Promise<T> {
  let made: Promise<T> | undefined;
  return () => {
    made ??= make();
    return made;
  };
}
