/** What happened to the numbers, marked above the bars that it concerns. */
import type { Bucket } from '../api/types.js';
import { barBand, type Plot } from './layout.js';

export interface Note {
  /** The times between which the queries occurred, both included. */
  readonly from: number;
  readonly to: number;
  readonly text: string;
}

/** Of one bar. */
const shownMax = 3;

/** The texts of the notes that concern a bar. */
export function notesOf({ start, end }: Bucket, notes: readonly Note[]): readonly string[] {
  const texts = notes
    .filter(({ from, to }) => from < Date.parse(end) && to >= Date.parse(start))
    .map(({ text }) => text);
  const more = texts.length - shownMax;
  return more > 0 ? [...texts.slice(0, shownMax), `And ${more} more`] : texts;
}

/** A line above each bar that has notes. */
export function notesPath(noted: readonly (readonly string[])[], plot: Plot): string {
  return noted
    .flatMap((texts, index) => {
      const { left, width } = barBand(index, noted.length, plot);
      return texts.length === 0 ? [] : [`M${left} ${plot.top - 7}h${width}`];
    })
    .join('');
}
