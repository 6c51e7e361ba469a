/** Searches keys. */
import type { Key } from '../../api/types.js';

/** With fewer keys, no search field is shown. */
export const searchFromKeys = 10;

/** The keys whose name, start, end or creator contains the text; a complete secret finds its key too. */
export function findKeys(keys: readonly Key[], search: string): readonly Key[] {
  const text = search.trim().toLowerCase();
  if (text === '') return keys;
  return keys.filter(({ name, createdBy, start, end }) => {
    const ends = [start.toLowerCase(), end.toLowerCase()] as const;
    if (text.startsWith(ends[0]) && text.endsWith(ends[1])) return true;
    return [name, createdBy, ...ends].some((one) => one.toLowerCase().includes(text));
  });
}
