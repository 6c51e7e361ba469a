/** The search of the documentation site finds the right page first, with the index that the site itself loads. */
import { join } from 'node:path';
import { pathToFileURL } from 'node:url';
import MiniSearch from 'minisearch';
import { expect, test } from 'vitest';
import { searchOptions } from '../../docs/.vitepress/search.js';
import { filesBelow, root } from '../tidy/sources.js';

/** What readers type, and the page that should come first. */
const EXPECTED: readonly (readonly [query: string, page: string])[] = [
  ['privacy gdpr', 'privacy'],
  ['webhook', 'alerts'],
  ['what is other', 'queries'],
  ['install', 'run'],
  ['csv export', 'http'],
  ['time zone', 'time'],
  ['forgot password', 'dashboard'],
  ['how to count questions', 'queries'],
  ['docker', 'run'],
  ['kubernetes', 'run'],
  ['systemd service', 'run'],
  ['nginx reverse proxy', 'run'],
  ['prometheus metrics', 'operate'],
  ['health check', 'operate'],
  ['grafana', 'reading'],
  ['google sheets', 'reading'],
  ['excel', 'reading'],
  ['mcp claude', 'reading'],
  ['python example', 'recipes'],
  ['golang', 'recipes'],
  ['express middleware', 'client'],
  ['detect caller', 'client'],
  ['vercel ai sdk', 'recipes-sdks'],
  ['langchain', 'recipes-sdks'],
  ['opentelemetry collector', 'opentelemetry'],
  ['sampling', 'opentelemetry'],
  ['nothing is counted', 'opentelemetry'],
  ['duplicate id', 'ids'],
  ['idempotency', 'ids'],
  ['retry after 503', 'retries'],
  ['429 too many requests', 'overload'],
  ['rate limit', 'overload'],
  ['connection reset', 'errors'],
  ['401 unauthorized', 'errors'],
  ['backup', 'backup'],
  ['restore', 'backup'],
  ['upgrade to new version', 'backup'],
  ['sqlite to postgres', 'moving'],
  ['citus', 'citus'],
  ['failover', 'failover'],
  ['delete project', 'projects'],
  ['data retention', 'projects'],
  ['single sign-on', 'sign-in'],
  ['rotate api key', 'keys'],
  ['invite user', 'dashboard'],
  ['leaked key', 'security'],
  ['import from umami', 'import'],
  ['langfuse alternative', 'comparison'],
  ['environment variables', 'settings'],
  ['migrate from hosted platform', 'hosted'],
];

/** As VitePress's search box loads it. */
async function loadIndex(): Promise<MiniSearch> {
  const [file] = filesBelow('dist/docs/assets/chunks', '.js').filter(({ path }) =>
    path.includes('localSearchIndexroot'),
  );
  if (file === undefined) throw new Error('The site has no search index.');
  const { default: json } = (await import(pathToFileURL(join(root, file.path)).href)) as { default: string };
  return MiniSearch.loadJSON(json, {
    fields: ['title', 'titles', 'text'],
    storeFields: ['title', 'titles'],
    searchOptions,
  });
}

const index = await loadIndex();

/** The page of the first result. */
function findFirst(query: string): string | undefined {
  const [first] = index.search(query);
  return first && (String(first.id).replace(/#.*/, '').slice(1) || 'index');
}

test('a word of no page finds nothing', () => {
  expect(findFirst('xylophone')).toBeUndefined();
});

test('at least 45 of 50 searches have the right page first', () => {
  expect(EXPECTED).toHaveLength(50);
  const wrong = EXPECTED.flatMap(([query, page]) => {
    const first = findFirst(query);
    return first === page ? [] : [`${query}: ${first}, not ${page}`];
  });
  expect(wrong.length, wrong.join('\n')).toBeLessThanOrEqual(5);
});
