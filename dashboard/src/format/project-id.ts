/** Suggests ids for projects. */

/** Short enough to read in a URL. */
const suggestedCharactersMax = 32;

/** An id that resembles the name, such as `fresh-docs` for `Fresh Docs`; empty if no letter or digit of it can be part of one. */
export function suggestProjectId(name: string): string {
  return name
    .normalize('NFKD')
    .replaceAll(/\p{M}/gu, '')
    .toLowerCase()
    .replaceAll(/[^a-z0-9]+/g, '-')
    .slice(0, suggestedCharactersMax)
    .replaceAll(/^-|-$/g, '');
}
