/**
 * How the site's search finds pages: by what people type who look for them (`searches.ts`), with a little of what is written on them.
 * It stands in the place of MiniSearch in VitePress's search box, which lists what this returns. Runs in the browser and in tests.
 */
import MiniSearch, { type Options, type SearchOptions, type SearchResult } from 'minisearch';
import SearchableMap from 'minisearch/SearchableMap';
import { PAGES } from './page-list.js';
import { SEARCHES } from './searches.js';

/** What the search index has of a page: its HTML without help texts, with its description after the title. */
export function toIndexed(html: string, page: string): string {
  // Tables of measurements, which nobody searches.
  if (page === 'figures') return '';
  return html
    .replaceAll(/<details>[\s\S]*?<\/details>/g, '')
    .replace('</h1>', () => `</h1><p>${PAGES.get(page)?.description ?? ''}</p>`);
}

/** Words that say little about what is searched. */
const SMALL_WORDS = new Set(
  'a an and are as at be been by can could did do does for from get has have how i if in is it its let many me much my no not of on one or our should so some that the their them then there these this to too use using want was we were what when where which while who why will with without would you your'.split(
    ' ',
  ),
);

/** Words for the same thing; the first stands for all. */
const SAME = `delete remove erase purge wipe, postgres postgresql pg psql, kubernetes k8s k3s, javascript js, typescript ts, python py,
  opentelemetry otel otlp, password passwd pwd passphrase, colleague teammate coworker, config configuration configure,
  change modify edit alter adjust, db database, env environment, ssl tls https, cert certificate, upgrade update, mail email,
  chart graph plot, double twice, revoke invalidate, maximum max, 2fa mfa totp otp, docs documentation, login signin logon,
  org organization organisation, wrong incorrect, authenticate authentication auth, authorize authorization authorisation,
  recognise recognize detect, repo repository, msg message, dir directory folder, broken damaged corrupt, whitelist allowlist,
  autostart boot, timezone tz`;

/** What is written as one word or as two. */
const JOINED: readonly (readonly [RegExp, string])[] = [
  [
    /\b(back|log|sign|set|roll|fail|start|shut|clean|time|white)[ -](up|in|out|back|over|down|zone|list)(s?)\b/g,
    '$1$2$3',
  ],
  [/\be-mail/g, 'email'],
  [/\bad block/g, 'adblock'],
  [/\bread[ -]only\b/g, 'readonly'],
  [/\b(?:two|multi)[ -]factor\b/g, '2fa'],
  [/\bsingle sign-?on\b|\bsingle signon\b/g, 'sso'],
  [/\b(next|node)\.?js\b/g, '$1'],
];

function wordsIn(text: string): string[] {
  const joined = JOINED.reduce((all, [from, to]) => all.replaceAll(from, to), text.toLowerCase());
  return [...new Set(joined.split(/[^\p{L}\p{N}]+/u).filter(Boolean))];
}

/** A word without the endings of its forms. */
function trimEnd(word: string): string {
  if (word.length < 4 || /\d/.test(word)) return word;
  const one = word
    .replace(/ies$/, 'y')
    .replace(/(?<=ss|sh|ch|x)es$/, '')
    .replace(/(?<=[^su])s$/, '');
  const short = one.replace(/(?:ations?|ating|ated|(?<!id)ate|ions?|ings?|ed)$/, '');
  return (short.length < 3 ? one : short).replace(/([^aeiousl])\1$/, '$1').replace(/[ey]$/, '');
}

const same = new Map(
  SAME.split(',').flatMap((row) => {
    const [first = '', ...others] = row.trim().split(/\s+/).map(trimEnd);
    return others.map((other) => [other, first] as const);
  }),
);

function stemOf(word: string): string {
  const stem = trimEnd(word);
  return same.get(stem) ?? stem;
}

interface Search {
  readonly page: string;
  /** Of the section; empty for the whole page. */
  readonly anchor: string;
  /** By stem. */
  readonly words: ReadonlyMap<string, string>;
}

function* readSearches(): Iterable<Search> {
  let page = '';
  let anchor = '';
  for (const row of SEARCHES.trim().split('\n')) {
    if (row.startsWith('[')) [page, anchor] = [row.slice(1, -1), ''];
    else if (row.startsWith('#')) anchor = row.slice(1);
    else
      for (const text of row.split(';'))
        yield { page, anchor, words: new Map(wordsIn(text).map((word) => [stemOf(word), word])) };
  }
}

/** Every search that a page or section should be found for. */
export const searches: readonly Search[] = [...readSearches()];

/** How often each stem is in the searches of each page. */
const countsOf = new Map<string, Map<string, number>>();
/** The stems of all words. */
const vocabulary = new SearchableMap<string>();
for (const { page, words } of searches)
  for (const [stem, word] of words) {
    const counts = countsOf.get(stem) ?? new Map<string, number>();
    countsOf.set(stem, counts.set(page, (counts.get(page) ?? 0) + 1));
    vocabulary.set(word, stem);
  }

const smallStems = new Set([...SMALL_WORDS].map(stemOf));

/** A word of few pages says more. */
function weightOf(stem: string): number {
  const small = smallStems.has(stem) || stem.length < 2 || /^\d{1,2}$/.test(stem);
  return Math.sqrt(Math.log(1 + PAGES.size / ((countsOf.get(stem)?.size ?? 0) + 0.5))) * (small ? 0.3 : 1);
}

const weights = new Map([...countsOf.keys()].map((stem) => [stem, weightOf(stem)]));

/** The stems that a word may mean, with how like it they are. Others than its own only if no search has that. */
function meaningsOf(word: string): ReadonlyMap<string, number> {
  const stem = stemOf(word);
  if (countsOf.has(stem)) return new Map([[stem, 1]]);
  const begun = word.length < 3 ? [] : [...vocabulary.atPrefix(word)].map(([, one]) => [one, 0.6] as const);
  if (begun.length > 0) return new Map(begun);
  const mistyped = word.length < 5 ? [] : vocabulary.fuzzyGet(word, word.length < 8 ? 1 : 2).values();
  return new Map([...mistyped].map(([one, edits]) => [one, 0.7 ** edits]));
}

interface QueryWord {
  readonly word: string;
  readonly weight: number;
  readonly meanings: ReadonlyMap<string, number>;
}

/** How close a search is to a query, from 0 to 1: what they share, of the query and, less, of the search. */
function closeness({ words }: Search, query: readonly QueryWord[], total: number): number {
  const left = new Set(words.keys());
  let shared = 0;
  for (const { word, weight, meanings } of query) {
    let best = 0;
    for (const [stem, likeness] of meanings) {
      if (!words.has(stem)) continue;
      best = Math.max(best, words.get(stem) === word ? likeness : likeness * 0.8);
      left.delete(stem);
    }
    shared += best * weight;
  }
  if (shared === 0) return 0;
  const rest = [...left].reduce((sum, stem) => sum + (weights.get(stem) ?? 0), 0);
  return ((shared / total) * shared) / (shared + rest);
}

interface Found {
  score: number;
  /** The closeness of the closest search. */
  closest: number;
  /** The section whose search is closest, empty for the page; undefined if no search is. */
  anchor: string | undefined;
}

/** How well each page fits, by its searches, of which the closest count most, and by how many of them have the words of the query. */
function findPages(text: string): Map<string, Found> {
  const query = wordsIn(text).map((word) => {
    return { word, weight: weightOf(stemOf(word)), meanings: meaningsOf(word) };
  });
  const total = query.reduce((sum, { weight }) => sum + weight, 0);
  const found = new Map<string, Found>();
  for (const search of searches) {
    const close = closeness(search, query, total);
    if (close === 0) continue;
    const one = found.get(search.page) ?? { score: 0, closest: 0, anchor: undefined };
    found.set(search.page, {
      // A search that equals the query counts three times.
      score: one.score + close ** 4 * (close > 0.99 ? 3 : 1),
      closest: Math.max(one.closest, close),
      anchor: close > one.closest ? search.anchor : one.anchor,
    });
  }
  for (const [page, one] of found) {
    one.score **= 1 / 4;
    for (const { weight, meanings } of query) {
      const counts = [...meanings].map(([stem, likeness]) => (countsOf.get(stem)?.get(page) ?? 0) * likeness);
      const count = Math.max(0, ...counts);
      one.score += ((0.4 * weight) / total) * (count / (count + 1));
    }
  }
  return found;
}

/** How MiniSearch finds what is written. */
const searchOptions: SearchOptions = {
  prefix: (term) => term.length > 2,
  fuzzy: (term) => (term.length > 4 ? 0.2 : false),
  boost: { title: 4, text: 2, titles: 1 },
  weights: { fuzzy: 0.2, prefix: 0.3 },
  processTerm: (term) => (SMALL_WORDS.has(term.toLowerCase()) ? null : term.toLowerCase()),
};

const pageOf = ({ id }: SearchResult): string => (id as string).replace(/#.*/, '').slice(1) || 'index';

/** What is written adds little: words of a page are there for many reasons. */
function addWritten(pages: Map<string, Found>, written: readonly SearchResult[]): void {
  const best = written[0]?.score ?? 1;
  const first = new Map([...written].reverse().map((section) => [pageOf(section), section]));
  for (const [page, section] of first) {
    const { score, ...found } = pages.get(page) ?? { score: 0, closest: 0, anchor: undefined };
    pages.set(page, { ...found, score: score + (0.1 * section.score) / best });
  }
}

/** The place that a page was found for, and the section that has most of the words. */
function placesOf(
  { anchor }: Found,
  sections: readonly SearchResult[],
  written?: SearchResult,
): SearchResult[] {
  const [top] = sections;
  const place = sections.find(({ id }) => anchor !== '' && (id as string).endsWith(`#${anchor}`)) ?? top;
  const places = anchor === undefined ? [written] : [place, written];
  return [...new Set(places.map((one) => one?.id))].flatMap(
    (id) => places.find((one) => one?.id === id) ?? [],
  );
}

/** In the place of the class that VitePress's search box takes from MiniSearch. */
export default {
  loadJSON(json: string, options: Options) {
    const index = MiniSearch.loadJSON(json, { ...options, searchOptions });
    const sections = new Map<string, SearchResult[]>();
    for (const section of index.search(MiniSearch.wildcard)) {
      const page = pageOf(section);
      sections.set(page, [...(sections.get(page) ?? []), section]);
    }
    return {
      places: [...sections.values()].flat().map(({ id }) => id as string),
      /** The sections to show, the best page first. */
      search(text: string): SearchResult[] {
        const written = index.search(text);
        const pages = findPages(text);
        addWritten(pages, written);
        const terms = Object.fromEntries(wordsIn(text).map((word) => [word, []]));
        return [...pages]
          .sort(([, one], [, other]) => other.score - one.score)
          .flatMap(([page, found]) => {
            const first = written.find((section) => pageOf(section) === page);
            return placesOf(found, sections.get(page) ?? [], first);
          })
          .map((section) => ({ ...section, match: { ...terms, ...section.match } }));
      },
    };
  },
};
