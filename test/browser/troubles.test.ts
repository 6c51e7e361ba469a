/** The monitoring of browser tests reports each kind of problem, on a page with a policy like the service's. */
import { expect, test } from 'vitest';
import { accessibilityProblems, expectAccessible } from '../support/browser/accessible.js';
import { browserVisits } from '../support/browser/browser.js';
import { sharedByTests } from '../support/cleanup.js';
import { startHttpServer } from '../support/http-server.js';

const visit = browserVisits();

/** Sends the page `/page/held`, if it was requested. */
let sendHeld: (() => void) | undefined;

const serverUrl = sharedByTests(() =>
  startHttpServer(({ url }, response) => {
    // Requests that the page aborts must not be answered before.
    if (url?.endsWith('/waits')) return;
    if (url === '/page/held') {
      sendHeld = () => response.setHeader('content-type', 'text/html').end(page(''));
      return;
    }
    if (url === '/is-held') {
      response.end(String(sendHeld !== undefined));
      return;
    }
    response.statusCode = url?.startsWith('/page') ? 200 : 404;
    response.setHeader('content-type', 'text/html');
    response.setHeader('content-security-policy', "default-src 'self'; img-src 'self' data:");
    response.end(page(''));
  }),
);

/** A page without problems. */
function page(body: string): string {
  return `<!doctype html><html lang="en"><link rel="icon" href="data:,"><title>A page</title><main><h1>A page</h1>${body}</main>`;
}

async function visitPage() {
  const visited = await visit(serverUrl());
  await visited.page.goto('/page');
  return visited;
}

/** Scripts that cause a problem, and the expected report. */
const kinds: readonly (readonly [kind: string, script: string, troubles: readonly string[]])[] = [
  ['an error in the console', "console.error('lost', 1)", ['console: lost 1']],
  ['an uncaught error', "queueMicrotask(() => { throw new Error('lost') }); 0", ['uncaught: lost']],
  ['a rejected promise', "Promise.reject(new Error('lost')); 0", ['uncaught: lost']],
  ['a request that is refused', "fetch('/nothing?a=1').then(() => 0)", ['GET /nothing?a=1: 404']],
  [
    'a request that is given up',
    'const stop = new AbortController(); fetch("/waits", { signal: stop.signal }).catch(() => 0); stop.abort()',
    ['GET /waits: net::ERR_ABORTED'],
  ],
  [
    'a script that the policy forbids',
    "const script = document.createElement('script'); script.text = '0'; document.head.append(script)",
    ['script-src-elem does not allow inline on /page'],
  ],
  [
    'an image from elsewhere',
    `new Promise((resolve) => {
       const image = new Image();
       image.onerror = () => resolve(0);
       image.src = 'https://elsewhere.test/x.png';
     })`,
    ['GET https://elsewhere.test/x.png: csp', 'img-src does not allow https://elsewhere.test/x.png on /page'],
  ],
];

test.each(kinds)('%s', async (_kind, script, expected) => {
  const { page, troubles } = await visitPage();
  expect(await troubles.unexpected()).toEqual([]);
  await page.evaluate(script);
  const found = await expect
    .poll(() => troubles.unexpected())
    .toEqual(expect.arrayContaining([...expected]))
    .then(() => troubles.unexpected());
  // The browser also logs policy violations to its console, in words that change between versions.
  const more = found.filter((one) => !expected.includes(one));
  for (const one of more) expect(one).toMatch(/^console: .*Content Security Policy/);
  troubles.expect(...found);
  expect(await troubles.unexpected()).toEqual([]);
});

test('an expected problem that does not occur is reported', async () => {
  const { page, troubles } = await visitPage();
  troubles.expect('console: later');
  expect(await troubles.unexpected()).toEqual(['did not happen: console: later']);
  await page.evaluate("console.error('later')");
  expect(await troubles.unexpected()).toEqual([]);
});

test('aborted requests are reported, except allowed ones', async () => {
  const { page, troubles } = await visitPage();
  troubles.ignoreGivenUp('GET /api/');
  const giveUp = (path: string) =>
    page.evaluate(
      `const stop = new AbortController(); fetch("${path}", { signal: stop.signal }).catch(() => 0); stop.abort()`,
    );
  await giveUp('/api/waits');
  await giveUp('/waits');
  await expect.poll(() => troubles.unexpected()).toEqual(['GET /waits: net::ERR_ABORTED']);
  await page.evaluate("fetch('/api/nothing').then(() => 0)");
  troubles.expect('GET /waits: net::ERR_ABORTED', 'GET /api/nothing: 404');
});

test('requests aborted by navigation are not reported', async () => {
  const { page, troubles } = await visitPage();
  const failed = page.waitForEvent('requestfailed');
  await page.evaluate("fetch('/waits').catch(() => 0); 0");
  await page.goto('/page?again');
  await failed;
  expect(await troubles.unexpected()).toEqual([]);
});

test('requests that a page makes while it is left are not reported, and those of the next page are', async () => {
  const { page, troubles } = await visitPage();
  const [requested, failed] = [page.waitForRequest('**/waits'), page.waitForEvent('requestfailed')];
  await page.evaluate(`(async () => {
    location.href = '/page/held';
    while ((await (await fetch('/is-held')).text()) === 'false') {}
    fetch('/waits');
  })(); 0`);
  await requested;
  sendHeld?.();
  await failed;
  await page.waitForURL('**/page/held');
  expect(await troubles.unexpected()).toEqual([]);
  await page.evaluate(
    'const stop = new AbortController(); fetch("/waits", { signal: stop.signal }).catch(() => 0); stop.abort()',
  );
  await expect.poll(() => troubles.unexpected()).toEqual(['GET /waits: net::ERR_ABORTED']);
  troubles.expect('GET /waits: net::ERR_ABORTED');
});

test('problems in a popup are reported', async () => {
  const { page, context, troubles } = await visitPage();
  const opened = context.waitForEvent('page');
  await page.evaluate("window.open('/page'); 0");
  const other = await opened;
  await other.waitForLoadState();
  await other.evaluate("console.error('lost')");
  expect(await troubles.unexpected()).toEqual(['console: lost']);
  troubles.expect('console: lost');
});

test('problems in a page that navigates during the check are reported', async () => {
  const { page, troubles } = await visitPage();
  await page.addInitScript(`{
    const times = Number(sessionStorage.getItem('times')) + 1;
    sessionStorage.setItem('times', times);
    console.error('lost');
    if (times < 40) addEventListener('load', () => location.reload());
  }`);
  await page.goto('/page', { waitUntil: 'commit' });
  for (let times = 0; times < 200; times++) await troubles.unexpected();
  expect(await troubles.unexpected()).toEqual(['console: lost']);
  troubles.expect('console: lost');
});

test('only this machine is reachable, by name and by address', async () => {
  const { context, troubles } = await visitPage();
  const page = await context.newPage();
  for (const address of ['http://elsewhere.test/', 'http://192.0.2.1/', 'http://[2001:db8::1]/']) {
    await expect(page.goto(address)).rejects.toThrow('net::ERR_NAME_NOT_RESOLVED');
    troubles.expect(`GET ${address}: net::ERR_NAME_NOT_RESOLVED`);
  }
});

test('an inaccessible page is reported with the element', async () => {
  const visited = await visitPage();
  await expectAccessible(visited.page);
  await visited.page.setContent(page('<img src="data:," id="chart">'));
  expect(await accessibilityProblems(visited.page)).toEqual([
    expect.stringMatching(/^image-alt \(critical\): .+; https:/),
    expect.stringMatching(/^ {2}#chart: Element does not have an alt attribute/),
  ]);
  await expect(expectAccessible(visited.page)).rejects.toThrow('image-alt');
});
