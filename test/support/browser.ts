/** A browser for each file of tests, and in it a context of its own for each visit. What goes wrong in it fails the test. */
import { mkdtemp } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import type { Browser, BrowserContext, BrowserContextOptions, Page } from 'playwright-core';
import { afterAll, afterEach, beforeAll, inject } from 'vitest';
import { Troubles } from './browser-troubles.js';
import { startChromium } from './chromium.js';

/** Long enough for a busy machine, and shorter than a test may take, so that its message says what was waited for. */
const waitMs = 30_000;

/** With this variable, all that a page showed and did in a failed test is kept. It takes the browser as long as the page. */
const isTraced = process.env['CALLER_STATS_TEST_TRACE'] !== undefined;

/** Somebody with a browser of their own: no cookies, nothing stored. */
export interface Visit {
  readonly page: Page;
  readonly context: BrowserContext;
  readonly troubles: Troubles;
}

/** Opens a browser without any past. `baseURL` is where paths that the page is sent to belong. */
export type Visitor = (baseURL: string, options?: BrowserContextOptions) => Promise<Visit>;

/**
 * Gives the tests of this file a browser. A test fails if anything went wrong in it that the test had not expected; a
 * picture of each page of a failed test is kept, with `CALLER_STATS_TEST_TRACE` its trace as well, and where is printed.
 */
export function browserVisits(): Visitor {
  let browser: Browser | undefined;
  const visits: Visit[] = [];
  beforeAll(async () => {
    browser = await startChromium(inject('chromium'));
  });
  afterAll(async () => {
    await browser?.close();
  });
  afterEach(async ({ task }) => {
    const troubles: string[] = [];
    let failed = task.result?.state === 'fail';
    for (const visit of visits.splice(0)) {
      const unexpected = await visit.troubles.unexpected();
      troubles.push(...unexpected);
      failed ||= unexpected.length > 0;
      if (failed) await keepPictures(visit, task.name);
      await visit.context.close();
    }
    if (troubles.length > 0) throw new Error(`In the browser:\n${troubles.join('\n')}`);
  });
  return async (baseURL, options = {}) => {
    if (browser === undefined) throw new Error('There is no browser before the tests.');
    // What moves is drawn sixty times a second, by the processor: only where a test asks for it.
    const context = await browser.newContext({
      baseURL,
      locale: 'en-GB',
      timezoneId: 'UTC',
      reducedMotion: 'reduce',
      ...options,
    });
    context.setDefaultTimeout(waitMs);
    const troubles = await Troubles.watch(context);
    if (isTraced) await context.tracing.start({ screenshots: true, snapshots: true });
    const visit = { page: await context.newPage(), context, troubles };
    visits.push(visit);
    return visit;
  };
}

/** They stay where they are: nobody reads them before the run is over. */
async function keepPictures({ context }: Visit, test: string): Promise<void> {
  const folder = await mkdtemp(join(tmpdir(), 'caller-stats-browser-'));
  const trace = join(folder, 'trace.zip');
  if (isTraced) await context.tracing.stop({ path: trace });
  for (const [at, page] of context.pages().entries())
    await page.screenshot({ path: join(folder, `page-${at + 1}.png`), fullPage: true });
  const how = isTraced
    ? `npx playwright-core show-trace ${trace}`
    : 'CALLER_STATS_TEST_TRACE=1 keeps a trace';
  process.stderr.write(`"${test}" failed; pictures: ${folder}; ${how}\n`);
}
