/** How the site's search finds pages. Runs in the browser and in tests. */
import type { SearchOptions } from 'minisearch';
import { PAGES } from './page-list.js';

/** Words of questions that say nothing about their subject. */
const STOP_WORDS = new Set(
  'a an and are be by can do does for from get how i in is it many me much my not of on or should the there this to was what when where which who why will with you your'.split(
    ' ',
  ),
);

const wordsIn = (text: string): Set<string> => new Set(text.toLowerCase().split(/[^\p{L}\p{N}]+/u));

const keywords = new Map([...PAGES].map(([name, page]) => [name, wordsIn(page.keywords ?? '')]));

/** How many pages have a keyword: one of many says less of each. */
const pagesOf = new Map<string, number>();
for (const words of keywords.values())
  for (const word of words) pagesOf.set(word, (pagesOf.get(word) ?? 0) + 1);

/** The search does not find it: tables of measurements. */
const UNSEARCHED = new Set(['figures']);

/** Pages that mention everything, and are rarely what a reader wants. */
const LAST = new Set(['changelog', 'api', 'commands', 'limits']);

/** What the search index has of a page: its HTML without help texts, with its keywords after the title. */
export function toIndexed(html: string, page: string): string {
  if (UNSEARCHED.has(page)) return '';
  const words = [...(keywords.get(page) ?? [])].join(' ');
  return html
    .replaceAll(/<details>[\s\S]*?<\/details>/g, '')
    .replace('</h1>', () => `</h1><p>${PAGES.get(page)?.description ?? ''} ${words}</p>`);
}

/** Options of MiniSearch for queries, beside those of VitePress. */
export const searchOptions: SearchOptions = {
  prefix: (term) => term.length > 2,
  fuzzy: (term) => (term.length > 4 ? 0.2 : false),
  boost: { title: 4, text: 2, titles: 1 },
  weights: { fuzzy: 0.2, prefix: 0.3 },
  processTerm: (term) => {
    const word = term.toLowerCase();
    return STOP_WORDS.has(word) ? null : word;
  },
  boostDocument: (id, term, fields) => {
    // Names of alerts: many begin with a word that readers search for.
    if (term.startsWith('callerstats')) return 0.1;
    const page = String(id).replace(/#.*/, '').slice(1) || 'index';
    const isTitle = Array.isArray(fields?.['titles']) && fields['titles'].length === 0;
    const last = LAST.has(page) ? 0.3 : 1;
    return isTitle && keywords.get(page)?.has(term) ? (last * 12) / Math.sqrt(pagesOf.get(term) ?? 1) : last;
  },
};
