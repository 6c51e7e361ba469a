/** The search of the documentation site finds the right page first, with the index that the site itself loads. */
import { join } from 'node:path';
import { pathToFileURL } from 'node:url';
import MiniSearch from 'minisearch';
import { expect, test } from 'vitest';
import { searchOptions } from '../../../docs/.vitepress/search.js';
import { filesBelow, root } from '../../tidy/sources.js';

/** What readers type, and the page that should come first. */
const EXPECTED: readonly (readonly [query: string, page: string])[] = [
  ['privacy gdpr', 'privacy'],
  ['webhook', 'alerts'],
  ['what is other', 'queries'],
  ['install', 'install'],
  ['csv export', 'http'],
  ['time zone', 'time'],
  ['forgot password', 'dashboard'],
  ['how to count questions', 'queries'],
  ['docker', 'run'],
  ['kubernetes', 'run'],
  ['systemd service', 'install'],
  ['nginx reverse proxy', 'run'],
  ['prometheus metrics', 'operate'],
  ['health check', 'operate'],
  ['grafana', 'reading'],
  ['google sheets', 'reading'],
  ['excel', 'reading'],
  ['mcp claude', 'reading'],
  ['python example', 'client'],
  ['golang', 'client'],
  ['express middleware', 'client'],
  ['detect caller', 'client'],
  ['vercel ai sdk', 'recipes-sdks'],
  ['langchain', 'recipes-sdks'],
  ['opentelemetry collector', 'opentelemetry'],
  ['sampling', 'opentelemetry'],
  ['nothing is counted', 'opentelemetry'],
  ['duplicate id', 'ids'],
  ['idempotency', 'ids'],
  ['retry after 503', 'errors'],
  ['429 too many requests', 'errors'],
  ['rate limit', 'errors'],
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
  ['migrate from hosted platform', 'comparison'],
  ['unique visitors', 'faq'],
  ['pricing', 'faq'],
  ['slack bot', 'queries'],
  ['what is a caller', 'queries'],
  ['right to be forgotten', 'privacy'],
  ['cookie banner', 'privacy'],
  ['add user', 'dashboard'],
  ['change password', 'sign-in'],
  ['session timeout', 'sign-in'],
  ['key expired', 'keys'],
  ['forgot admin key', 'keys'],
  ['disk full', 'operate'],
  ['log format', 'operate'],
  ['weekly email report', 'alerts'],
  ['public dashboard', 'sharing'],
  ['iframe', 'sharing'],
  ['windows service', 'install'],
  ['verify checksum', 'install'],
  ['breaking changes', 'versioning'],
  ['postgres permissions', 'settings'],
  ['billion queries', 'scaling'],
  ['413', 'errors'],
  ['x-forwarded-for', 'run'],
  ['subpath /stats', 'run'],
  ['daylight saving', 'time'],
  ['compare with last year', 'time'],
  ['export the rows', 'export'],
  ['downgrade', 'backup'],
  ['move project to another server', 'moving'],
  ['lost queries on crash', 'exactness'],
  ['late events', 'time'],
  ['backup schedule', 'backup'],
  ['port already in use', 'run'],
  ['rotate secret', 'settings'],
  ['remove duplicate questions', 'corrections'],
  ['pip install', 'client'],
  ['why did my numbers change', 'changes'],
  ['export raw data', 'export'],
  ['log rotation', 'operate'],
  ['uninstall', 'install'],
  ['cron backup', 'backup'],
  ['reset password of a user', 'dashboard'],
  ['two factor lost phone', 'sign-in'],
  ['run command as service', 'run'],
  ['journald', 'operate'],
  ['docker compose', 'run'],
  ['memory requirements', 'install'],
  ['which node version', 'install'],
  ['slack alert', 'alerts'],
  ['teams webhook', 'alerts'],
  ['no queries alert', 'alerts'],
  ['spam bot traffic', 'corrections'],
  ['wrong caller name', 'corrections'],
  ['okta', 'sign-in'],
  ['smtp', 'alerts'],
  ['embed chart', 'sharing'],
  ['https certificate', 'run'],
  ['cloudflare worker', 'recipes-serverless'],
  ['nextjs', 'client'],
  ['cors error', 'errors'],
  ['key rejected 403', 'not-arriving'],
  ['read only key', 'keys'],
  ['add second project', 'projects'],
  ['restore on another machine', 'backup'],
  ['how accurate are the counts', 'exactness'],
  ['week starts on sunday', 'projects'],
  ['gdpr delete user data', 'privacy'],
  ['postgres connection string', 'settings'],
  ['send questions from java', 'recipes-java'],
  ['batch many queries in one request', 'record'],
  ['middleware for hono', 'client'],
  ['count with otel without code', 'opentelemetry'],
  ['import nginx access log', 'import'],
  ['posthog export', 'import'],
  ['monthly totals from excel', 'import-counts'],
  ['take back a correction', 'corrections'],
  ['my spans are not counted', 'opentelemetry'],
  ['fluentd', 'recipes-logs'],
  ['aws lambda freeze', 'recipes-serverless'],
  ['openai agents sdk', 'recipes-sdks'],
  ['share with client without account', 'sharing'],
  ['share link expired', 'sharing'],
  ['alert when traffic spikes', 'alerts'],
  ['webhook signature verification', 'alerts'],
  ['libreoffice calc', 'reading'],
  ['power bi', 'reading'],
  ['claude desktop', 'reading'],
  ['bigquery', 'export'],
  ['install on windows', 'install'],
  ['verify signature of release', 'install'],
  ['podman', 'run'],
  ['caddy', 'run'],
  ['trust proxy', 'run'],
  ['revoke api key', 'keys'],
  ['audit log retention', 'settings'],
  ['invite colleague', 'dashboard'],
  ['passkey', 'sign-in'],
  ['keycloak', 'sign-in'],
  ['keep data for 90 days', 'projects'],
  ['litestream', 'backup'],
  ['migrate schema', 'backup'],
  ['alert rules prometheus', 'operate'],
  ['how many requests per second', 'scaling'],
  ['high availability', 'failover'],
  ['sharding', 'citus'],
  ['what is a recording key', 'keys'],
  ['timeout while recording', 'errors'],
  ['semantic versioning', 'versioning'],
];

/** What readers type for what went wrong: the words of the title of the page. */
const TITLES: readonly (readonly [query: string, page: string])[] = [
  ['I recorded something wrong', 'corrections'],
  ['Why did my number change', 'changes'],
  ['Export the rows', 'export'],
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

test.each(TITLES)('"%s" finds its page first', (query, page) => {
  expect(findFirst(query)).toBe(page);
});

test('at least 95 in 100 searches have the right page first', () => {
  expect(EXPECTED).toHaveLength(158);
  const wrong = EXPECTED.flatMap(([query, page]) => {
    const first = findFirst(query);
    return first === page ? [] : [`${query}: ${first}, not ${page}`];
  });
  expect(wrong.length, wrong.join('\n')).toBeLessThanOrEqual(7);
});
