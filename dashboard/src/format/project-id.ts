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

/** Whole parts of paths that common lists of ad blockers match, above all on hosts such as stats.example.com. */
const BLOCKED =
  /(^|[-_])(ads?|adverts?|analytics|beacons?|collect|events?|hits?|metrics|pixels?|pageviews?|stats|telemetry|track(er|ing)?)($|[-_])/i;

/** Whether ad blockers of people may keep the dashboard from reading the counts of a project with this id. */
export function isLikelyBlocked(id: string): boolean {
  return BLOCKED.test(id);
}
