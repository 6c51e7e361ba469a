/** Which options of a list somebody who types means. */

export interface Option {
  readonly value: string;
  readonly label: string;
  /** Stands beside the label, and is searched as well. */
  readonly note?: string;
}

/** Those in which every word is found, in any order; `new york` finds `America/New_York`. Beginnings come first. */
export function filterOptions(options: readonly Option[], search: string): readonly Option[] {
  const words = plain(search)
    .split(' ')
    .filter((word) => word !== '');
  if (words.length === 0) return options;
  const found = options.filter(({ label, value, note }) => {
    const text = plain(`${label} ${value} ${note ?? ''}`);
    return words.every((word) => text.includes(word));
  });
  const first = words[0] ?? '';
  const rank = ({ label }: Option): number =>
    plain(label).startsWith(first) ? 0 : plain(label).includes(` ${first}`) ? 1 : 2;
  return found.toSorted((a, b) => rank(a) - rank(b));
}

/** Without case, accents, and the signs that stand between words. */
function plain(text: string): string {
  return text
    .normalize('NFD')
    .replaceAll(/\p{M}/gu, '')
    .toLowerCase()
    .replaceAll(/[_/\s]+/g, ' ')
    .trim();
}
