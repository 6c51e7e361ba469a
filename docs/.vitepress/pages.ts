/** Which pages the site has, and in which order: those of `docs`, and a few of other folders. */
import { existsSync } from 'node:fs';
import { fileURLToPath } from 'node:url';

const root = fileURLToPath(new URL('../..', import.meta.url));

/** Pages of other folders, and what they are called in the site. */
export const FOREIGN: Readonly<Record<string, string>> = {
  'bench/README.md': 'benchmarks.md',
  'bench/results.md': 'figures.md',
  'bench/profiles.md': 'profiles.md',
  'SECURITY.md': 'security.md',
  'CHANGELOG.md': 'changelog.md',
};

interface Group {
  readonly text: string;
  /** Names of pages, and what the sidebar calls each. */
  readonly pages: Readonly<Record<string, string>>;
}

/** In the order of a reader who begins. A page that is not there is left out. */
export const GROUPS: readonly Group[] = [
  { text: 'Start', pages: { index: 'Start', dashboard: 'The dashboard' } },
  {
    text: 'Use',
    pages: {
      record: 'Record',
      client: 'The client',
      recipes: 'Recipes',
      opentelemetry: 'OpenTelemetry',
      'recipes-sdks': 'Recipes: AI SDKs',
      import: 'Import',
      'import-counts': 'Import counts',
      reading: 'Read',
      keys: 'Keys and people',
    },
  },
  {
    text: 'Run',
    pages: {
      run: 'Run',
      operate: 'Operate',
      scaling: 'Scaling',
      moving: 'Move',
      failover: 'Standby and failover',
      citus: 'Citus',
      backup: 'Backup and restore',
      projects: 'Projects',
      reliability: 'Reliability',
      security: 'Security',
      benchmarks: 'Benchmarks',
      figures: 'Figures',
      profiles: 'Where the time goes',
      walk: 'A walk, with times',
    },
  },
  {
    text: 'Reference',
    pages: {
      reference: 'Overview',
      http: 'Operations over HTTP',
      api: 'API',
      errors: 'Errors',
      commands: 'Commands',
      settings: 'Settings',
      limits: 'Limits and overload',
      changelog: 'Changes',
    },
  },
];

const homes = Object.fromEntries(Object.entries(FOREIGN).map(([source, page]) => [page, source]));

/** Where a page of the site is written, relative to the root: `docs/record.md` for `record`. */
export function sourceOf(page: string): string {
  return homes[`${page}.md`] ?? `docs/${page}.md`;
}

/** The groups with those of their pages that are there. */
export function sidebar(): { text: string; items: { text: string; link: string }[] }[] {
  return GROUPS.map(({ text, pages }) => ({
    text,
    items: Object.entries(pages)
      .filter(([page]) => existsSync(`${root}${sourceOf(page)}`))
      .map(([page, title]) => ({ text: title, link: page === 'index' ? '/' : `/${page}` })),
  }));
}
