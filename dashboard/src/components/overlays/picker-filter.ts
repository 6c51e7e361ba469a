/** Filters the options of a picker by the typed text. */

export interface Option {
  readonly value: string;
  readonly label: string;
  /** Shown beside the label and searched too. */
  readonly note?: string;
}

/**
 * The options that contain every word, in any order: `new york` finds `America/New_York`. Prefix matches come first.
 */
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

/** Removes case, accents and separators. */
function plain(text: string): string {
  return text
    .normalize('NFD')
    .replaceAll(/\p{M}/gu, '')
    .toLowerCase()
    .replaceAll(/[_/\s]+/g, ' ')
    .trim();
}
