/** What most people do with the dashboard and the docs, in Firefox and WebKitGTK. All other browser tests run in Chromium alone. */
import { mkdtemp, writeFile } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { afterEach, describe, expect, test } from 'vitest';
import type { CreatedShareLinkResponse } from '../../src/http/dashboard/responses.js';
import { type DashboardServer, onSqlite } from '../support/browser/dashboard-server.js';
import { ada } from '../support/browser/dashboard-user.js';
import { startSetUp } from '../support/browser/dashboard-visit.js';
import { countsOf } from '../support/browser/demo-api.js';
import { numberOf } from '../support/browser/overview.js';
import { sharedByTests } from '../support/cleanup.js';
import { runCommand } from '../support/cli/cli.js';
import { startHttpServer } from '../support/http-server.js';
import { temporaryFolder } from '../support/temporary.js';
import { startFirefox } from './firefox.js';
import { type BrowserStarter, type Page, patience } from './page.js';
import { startWebKit } from './webkit.js';

/** Dates are as in Britain for a reader of German, even if the browser also lists the English of the United States. */
const browsers: readonly (readonly [name: string, start: BrowserStarter, dates: string])[] = [
  ['Firefox', startFirefox, '1 Jan – 31 Dec 2025'],
  ['WebKitGTK', startWebKit, 'Jan 1 – Dec 31, 2025'],
];

/** A range of the sample's events that has ended. */
const year = 'from=2025-01-01&to=2025-12-31&zone=UTC';
const yearBounds = { dateFrom: '2025-01-01T00:00:00Z', dateTo: '2026-01-01T00:00:00Z' };
const overview = `/projects/demo?${year}`;

const place = sharedByTests(startSetUp(onSqlite));

const button = (name: string) => `//button[normalize-space()='${name}']`;

/** Fills the form that a visitor sees instead of any page. */
async function enter(page: Page, server: Pick<DashboardServer, 'url'>, path: string): Promise<void> {
  await page.open(`${server.url}${path}`);
  await page.type('input[name=email]', ada.email);
  await page.type('input[name=password]', ada.password);
  await page.click(button('Sign in'));
}

/** The numbers of the tiles. */
async function tilesOf(page: Page) {
  const [total, web, api, other] = await page.value<string[]>(
    "Array.from(document.querySelectorAll('.tile-number'), (tile) => tile.textContent)",
  );
  return total === undefined
    ? undefined
    : { web: numberOf(web), api: numberOf(api), other: numberOf(other), total: numberOf(total) };
}

const expectTiles = (page: Page, counts: object) =>
  expect.poll(() => tilesOf(page), patience).toEqual(counts);

/** From now on, keeps what the page says below the name of a range, `Today`, which no answer reaches. */
const watchToday = `(() => {
  window.seenToday = new Set();
  new MutationObserver(() => {
    if (document.querySelector('.toolbar-name').textContent !== 'Today') return;
    if (document.querySelector('.overview:not([aria-busy])') !== null) seenToday.add('old numbers');
    seenToday.add(document.querySelector('.updated')?.textContent ?? 'nothing');
  }).observe(document, { subtree: true, childList: true, characterData: true, attributes: true });
})()`;

/** Starts a browser for the tests of a `describe`, and keeps a picture of its page if one fails. */
function sharedPage(start: BrowserStarter, blocksSiteData: boolean): () => Page {
  const shared = sharedByTests(() => start({ blocksSiteData }));
  afterEach(async ({ task }) => {
    if (task.result?.state !== 'fail') return;
    const file = join(await mkdtemp(join(tmpdir(), 'caller-stats-browser-')), 'page.png');
    await writeFile(file, await shared().picture());
    process.stderr.write(`"${task.name}" failed; picture: ${file}\n`);
  });
  return shared;
}

describe.each(browsers)('in %s', (_name, start, dates) => {
  const page = sharedPage(start, false);

  test('a member signs in, reads a range, and picks another one', async () => {
    const { server } = place();
    await enter(page(), server, overview);
    await expectTiles(page(), await countsOf(server, yearBounds));
    await page().see(`//*[@class='toolbar-name'][.='${dates}']`);
    await page().click('.toolbar-range');
    await page().see('.ranges-more select');
    const height = await page().value("document.querySelector('.ranges').offsetHeight / innerHeight");
    expect(height).toBeLessThan(0.6);
    await page().click(button('All time'));
    await page().see("//*[@class='toolbar-name'][.='All time']");
    await expectTiles(page(), await countsOf(server, {}));
  });

  test('after signing out, going back shows nothing, also if the browser kept the page', async () => {
    const { server } = await startSetUp(onSqlite)();
    await enter(page(), server, '/members');
    await page().see("//h1[.='Members']");
    await page().see(`//*[.='${ada.email}']`);
    await page().click('.who');
    await page().click("//*[@role='menuitem'][contains(., 'Sign out')]");
    await page().see("//h1[.='Sign in']");
    await page().value('(history.back(), 0)');
    await page().see("//h1[.='Sign in']");
    await expect.poll(() => page().value<string>('location.search'), patience).toContain('members');
    expect(await page().value<string>('document.body.textContent')).not.toContain(ada.email);
  });

  test('a reader whose server has gone sees no old numbers below the name of another range', async () => {
    const { server } = await startSetUp(onSqlite)();
    await enter(page(), server, '/projects/demo?period=all&zone=UTC');
    await expectTiles(page(), await countsOf(server, {}));
    await page().see('.updated-dot');
    await page().click('.toolbar-range');
    await page().see('.ranges-more select');
    await page().value(watchToday);
    await server.stop();
    await page().click(button('Today'));
    await page().see("//*[@class='toolbar-name'][.='Today']");
    await page().see("//*[contains(., 'The server cannot be reached.')]");
    await page().see("//*[@role='alert'][contains(., 'The numbers could not be read.')]");
    expect(await page().value('[...seenToday]')).toEqual(['Loading…', 'nothing']);
  });

  test('a visitor opens a share link, also where another page embeds it', async () => {
    const { server, session } = place();
    let shared = '';
    const host = await startHttpServer((_request, response) => {
      response.setHeader('content-type', 'text/html');
      response.end(
        `<!doctype html><title>Host</title><iframe width="900" height="600" src="${shared}"></iframe>`,
      );
    });
    const origin = host.replace('127.0.0.1', 'localhost');
    const project = '/api/organizations/default/projects/demo';
    const { token } = await session.ask<CreatedShareLinkResponse>('POST', `${project}/share-links`, {
      name: 'Board',
      expires: '7d',
      origins: [origin],
    });
    shared = `${server.url}/share/${token}?${year}`;
    const counts = await countsOf(server, yearBounds);
    await page().open(shared);
    await expectTiles(page(), counts);
    await page().open(origin);
    await page().enterFrame();
    await expectTiles(page(), counts);
  });
});

describe.each(browsers)('in %s, where site data are blocked', (_name, start) => {
  const page = sharedPage(start, true);

  test('the sign-in says what is missing', async () => {
    await enter(page(), place().server, '/sign-in');
    await page().see("//*[contains(., 'your browser did not keep the cookie')]");
  });

  test('the docs can be searched', async () => {
    await page().open(`${place().server.url}/docs/record`);
    await page().click('.VPNavBarSearchButton');
    await page().type('.VPLocalSearchBox input', 'grace period');
    await page().click("//*[contains(@class, 'VPLocalSearchBox')]//a[contains(., 'API keys')]");
    await page().see("//h1[contains(., 'API keys')]");
  });
});

test('Firefox prints no empty page of a report, and the numbers on the first', async () => {
  const page = await startFirefox({ blocksSiteData: false });
  const { server } = place();
  await enter(page, server, `${overview}&table=1`);
  for (const head of ['When', 'Caller']) await page.see(`//table[contains(., '${head}')]`);
  const file = join(await temporaryFolder(), 'overview.pdf');
  await writeFile(file, await page.print());
  const { stdout } = await runCommand('pdftotext', [file, '-']);
  // Each page ends with a form feed.
  const pages = stdout.split('\f').slice(0, -1);
  const counts = await countsOf(server, yearBounds);
  expect(pages[0]?.match(/[\d,]+/g)?.map(numberOf)).toEqual(expect.arrayContaining(Object.values(counts)));
  expect(pages.map((text) => text.trim())).not.toContain('');
});
