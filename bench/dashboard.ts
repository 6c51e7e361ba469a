/**
 * The load time of the overview in a browser with an empty cache and a million recorded queries, compared with a
 * minimal page; and the bytes that the first view loads.
 */
import type { Browser, BrowserContext, Page } from 'playwright-core';
import { findChromium, startChromium } from '../test/support/browser/chromium.js';
import { makeEvents, writeNdjson, YEAR } from './support/events.js';
import type { Figure, Report } from './support/report.js';
import { Database, projectId } from './support/service.js';
import { programArguments, type Workspace } from './support/workspace.js';

export interface DashboardOptions {
  readonly rounds: number;
  readonly events: number;
  readonly note: (line: string) => void;
}

/** One visit with an empty cache, unless the page was visited before. */
interface Visit {
  readonly what: string;
  readonly url: string;
  /** Selector of the content that the visitor waits for. */
  readonly ready: string;
  readonly signedIn: boolean;
  /** Whether the same page was visited before. */
  readonly again?: boolean;
}

interface Seen {
  readonly ms: number;
  /** Transferred bytes of JavaScript, compressed. */
  readonly scriptBytes: number;
}

const email = 'bench@example.org';
const password = 'a long enough passphrase';

/** Limit of compressed JavaScript in a first view. */
const scriptBytesMax = 100_000;

export async function benchDashboard(
  workspace: Workspace,
  { rounds, events, note }: DashboardOptions,
): Promise<Report> {
  const database = await Database.create(workspace, 'dashboard');
  const file = workspace.path('events.ndjson');
  await writeNdjson(file, makeEvents(events, 1));
  note(`importing ${events} lines`);
  await database.import(file, events);
  const invited = await database.command('member', 'invite', email, '--role', 'owner', '--json');
  const { url } = await database.serve();
  const cookies = await signUp(url, new URL((JSON.parse(invited) as { link: string }).link).hash.slice(1));
  const page = '<!doctype html><title>bare</title><h1>bare</h1>';
  const bareHeaders = ['content-type', 'text/html', 'content-length', String(page.length)];
  const bare = await workspace.start([...programArguments('bare-server'), JSON.stringify(bareHeaders), page]);
  const year = `from=${toDate(YEAR.from)}&to=${toDate(YEAR.to)}`;
  const overview = { url: `${url}/projects/${projectId}?${year}&zone=UTC`, signedIn: true };
  const visits = [
    { what: 'bare page', url: bare.url, ready: 'h1', signedIn: false },
    { what: 'sign-in', url: `${url}/sign-in`, ready: 'form', signedIn: false },
    { what: 'overview, to its numbers', ...overview, ready: '.tile-number' },
    { what: 'overview, to its chart', ...overview, ready: '.chart .bar' },
    { what: 'overview again, to its chart', ...overview, ready: '.chart .bar', again: true },
  ] satisfies Visit[];
  const browser = await startChromium(await findChromium(workspace.folder, process.env));
  try {
    const seen = await takeTurns(browser, visits, { cookies, url, rounds, note });
    return toReport(seen, events);
  } finally {
    await browser.close();
  }
}

async function takeTurns(
  browser: Browser,
  visits: readonly Visit[],
  {
    cookies,
    url,
    rounds,
    note,
  }: {
    readonly cookies: readonly string[];
    readonly url: string;
    readonly rounds: number;
    readonly note: (line: string) => void;
  },
): Promise<ReadonlyMap<string, readonly Seen[]>> {
  const seen = new Map<string, Seen[]>(visits.map(({ what }) => [what, []]));
  // Round 0 warms up and is not counted.
  for (let round = 0; round <= rounds; round++) {
    note(round === 0 ? 'warming up' : `round ${round} of ${rounds}`);
    const first = round % visits.length;
    for (const visit of [...visits.slice(first), ...visits.slice(0, first)]) {
      const context = await browser.newContext({ timezoneId: 'UTC' });
      if (visit.signedIn)
        await context.addCookies(cookies.map((cookie) => ({ ...parseCookie(cookie), url })));
      if (visit.again) await look(context, visit);
      const result = await look(context, visit);
      if (round > 0) seen.get(visit.what)?.push(result);
      await context.close();
    }
  }
  return seen;
}

async function look(context: BrowserContext, { url, ready }: Visit): Promise<Seen> {
  const page = await context.newPage();
  await page.goto(url, { waitUntil: 'commit' });
  const ms = await page.evaluate<number>(measureTime(ready));
  await page.waitForLoadState('networkidle');
  const scriptBytes = await measureScriptBytes(page);
  await page.close();
  return { ms, scriptBytes };
}

/** Measured by the page's own clock; polling from outside would be too coarse. */
function measureTime(ready: string): string {
  return `new Promise((resolve) => {
    const look = () =>
      document.querySelector(${JSON.stringify(ready)}) === null
        ? requestAnimationFrame(look)
        : resolve(performance.now());
    look();
  })`;
}

/** Transferred bytes by Resource Timing (W3C), without cached files. */
function measureScriptBytes(page: Page): Promise<number> {
  return page.evaluate<number>(`performance.getEntriesByType('resource')
    .filter(({ name, transferSize }) => transferSize > 0 && /\\.js$/.test(name))
    .reduce((sum, { encodedBodySize }) => sum + encodedBodySize, 0)`);
}

/** Accepts the invitation and returns the session cookies. */
async function signUp(url: string, token: string): Promise<string[]> {
  const response = await fetch(`${url}/api/invitations/accept`, {
    method: 'POST',
    headers: { 'content-type': 'application/json', origin: url },
    body: JSON.stringify({ token, name: 'Bench', password }),
  });
  if (!response.ok) throw new Error(`no account was made: ${response.status} ${await response.text()}`);
  return response.headers.getSetCookie();
}

function parseCookie(cookie: string): { name: string; value: string } {
  const [pair = ''] = cookie.split(';');
  const at = pair.indexOf('=');
  return { name: pair.slice(0, at), value: pair.slice(at + 1) };
}

function toDate(timeMs: number): string {
  return new Date(timeMs).toISOString().slice(0, 10);
}

function toReport(seen: ReadonlyMap<string, readonly Seen[]>, events: number): Report {
  const of = (what: string) => seen.get(what) ?? [];
  const bare = of('bare page');
  const pages = [...seen.keys()].filter((what) => what !== 'bare page');
  const ratios: Figure[] = pages.map((what) => ({
    what: `time over bare page: ${what}`,
    values: of(what).map(({ ms }, round) => ms / (bare[round]?.ms ?? Number.NaN)),
  }));
  const times: Figure[] = [...seen].map(([what, visits]) => ({
    what: `${what}: time`,
    unit: 'ms',
    values: visits.map(({ ms }) => ms),
  }));
  const bytes: Figure[] = ['sign-in', 'overview, to its chart', 'overview again, to its chart'].map(
    (what) => ({
      what: `${what}: compressed JavaScript`,
      unit: 'bytes',
      atMost: scriptBytesMax,
      values: of(what).map(({ scriptBytes }) => scriptBytes),
    }),
  );
  return {
    name: 'dashboard',
    method:
      'The time from the request for a page until its content is visible, in headless Chromium on the same machine. ' +
      `${events.toLocaleString('en-US')} queries are recorded, of which one year is shown. The cache is empty, except for “again”. The pages ` +
      'alternate with a page of one heading that a bare `node:http` process serves.',
    ratios,
    absolutes: [...times, ...bytes],
  };
}
