/** Finds keys among many. */
import type { Key } from '../../api/types.js';

/** Fewer are seen at a glance. */
export const searchFromKeys = 10;

/** Those whose name, ends or maker have the text in them; a whole secret finds its key as well. */
export function findKeys(keys: readonly Key[], search: string): readonly Key[] {
  const text = search.trim().toLowerCase();
  if (text === '') return keys;
  return keys.filter(({ name, createdBy, start, end }) => {
    const ends = [start.toLowerCase(), end.toLowerCase()] as const;
    if (text.startsWith(ends[0]) && text.endsWith(ends[1])) return true;
    return [name, createdBy, ...ends].some((one) => one.toLowerCase().includes(text));
  });
}
