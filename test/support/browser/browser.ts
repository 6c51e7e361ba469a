/** A browser, with a new context for each visit. Problems in it fail the test. */
import { mkdtemp } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import type { Browser, BrowserContext, BrowserContextOptions, Page } from 'playwright-core';
import { afterEach, beforeAll, inject } from 'vitest';
import { Troubles } from './browser-troubles.js';
import { startChromium } from './chromium.js';

/** Long enough for a busy machine, and shorter than the timeout of tests, so that the message names what was missing. */
const waitMs = 30_000;

/**
 * Playwright looks for an element at growing intervals, from the fifth on every 500 ms, and has no option for that. Tests
 * would wait for it most of their time, so they look as often as `expect.poll` does.
 */
globalThis.setTimeout = new Proxy(setTimeout, {
  apply: (start, self, [work, ms, ...values]) =>
    Reflect.apply(start, self, [work, ms === 500 ? 50 : ms, ...values]),
});

/** With this variable, a failed test keeps a trace. Tracing takes as much time as the pages. */
const isTraced = process.env['CALLER_STATS_TEST_TRACE'] !== undefined;

/** A browser context without cookies and storage. */
export interface Visit {
  readonly page: Page;
  readonly context: BrowserContext;
  readonly troubles: Troubles;
}

/** Opens a new context. Paths are relative to `baseURL`. */
export type Visitor = (baseURL: string, options?: BrowserContextOptions) => Promise<Visit>;

/** All test files of a process use one browser, which ends with the process. */
let browser: Browser | undefined;

/**
 * Lets the tests of a file visit pages. A test fails if there are unexpected problems in it. The folder with screenshots
 * of a failed test's pages, and with its trace if `CALLER_STATS_TEST_TRACE` is set, is printed.
 */
export function browserVisits(): Visitor {
  const visits: Visit[] = [];
  beforeAll(async () => {
    if (browser?.isConnected() !== true) browser = await startChromium(inject('chromium'));
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
    if (browser === undefined) throw new Error('The browser starts with the first test.');
    // Animations use much processor time, so tests that need them ask for them.
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

/** Keeps screenshots, and the trace if there is one, after the run. */
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
