/** What watches the browser tests misses nothing: each kind of trouble once, on a page with the service's own policy. */
import { expect, test } from 'vitest';
import { accessibilityProblems, expectAccessible } from '../support/accessible.js';
import { browserVisits } from '../support/browser.js';
import { onSqlite } from '../support/dashboard-server.js';

const visit = browserVisits();

async function visitDocs() {
  const { url } = await onSqlite();
  const visited = await visit(url);
  await visited.page.goto('/docs');
  await visited.page.getByRole('heading', { name: 'caller-stats' }).waitFor();
  return visited;
}

/** Each as a script in the page, and the trouble that it makes. */
const kinds: readonly (readonly [kind: string, script: string, troubles: readonly string[]])[] = [
  ['an error in the console', "console.error('lost', 1)", ['console: lost 1']],
  ['an uncaught error', "queueMicrotask(() => { throw new Error('lost') }); 0", ['uncaught: lost']],
  ['a rejected promise', "Promise.reject(new Error('lost')); 0", ['uncaught: lost']],
  ['a request that is refused', "fetch('/v1/nothing?a=1').then(() => 0)", ['GET /v1/nothing?a=1: 404']],
  [
    'a request that is given up',
    'const stop = new AbortController(); fetch("/livez", { signal: stop.signal }).catch(() => 0); stop.abort()',
    ['GET /livez: net::ERR_ABORTED'],
  ],
  [
    'a script that the policy forbids',
    "const script = document.createElement('script'); script.text = '0'; document.head.append(script)",
    ['script-src-elem does not allow inline on /docs'],
  ],
  [
    'an image from elsewhere',
    `new Promise((resolve) => {
       const image = new Image();
       image.onerror = () => resolve(0);
       image.src = 'https://elsewhere.test/x.png';
     })`,
    ['GET https://elsewhere.test/x.png: csp', 'img-src does not allow https://elsewhere.test/x.png on /docs'],
  ],
];

test.each(kinds)('%s', async (_kind, script, expected) => {
  const { page, troubles } = await visitDocs();
  expect(await troubles.unexpected()).toEqual([]);
  await page.evaluate(script);
  const found = await expect
    .poll(() => troubles.unexpected())
    .toEqual(expect.arrayContaining([...expected]))
    .then(() => troubles.unexpected());
  // The browser says in its console as well what its policy forbade, in words that change from version to version.
  const more = found.filter((one) => !expected.includes(one));
  for (const one of more) expect(one).toMatch(/^console: .*Content Security Policy/);
  troubles.expect(...found);
  expect(await troubles.unexpected()).toEqual([]);
});

test('trouble that is expected and does not come', async () => {
  const { page, troubles } = await visitDocs();
  troubles.expect('console: later');
  expect(await troubles.unexpected()).toEqual(['did not happen: console: later']);
  await page.evaluate("console.error('later')");
  expect(await troubles.unexpected()).toEqual([]);
});

test('trouble in a page that another opened', async () => {
  const { page, context, troubles } = await visitDocs();
  const opened = context.waitForEvent('page');
  await page.evaluate("window.open('/livez'); 0");
  await (await opened).evaluate("console.error('lost')");
  expect(await troubles.unexpected()).toEqual(['console: lost']);
  troubles.expect('console: lost');
});

test('no name and no address but this machine can be reached', async () => {
  const { context, troubles } = await visitDocs();
  const page = await context.newPage();
  for (const address of ['http://elsewhere.test/', 'http://192.0.2.1/', 'http://[2001:db8::1]/']) {
    await expect(page.goto(address)).rejects.toThrow('net::ERR_NAME_NOT_RESOLVED');
    troubles.expect(`GET ${address}: net::ERR_NAME_NOT_RESOLVED`);
  }
});

test('an inaccessible page, in words that lead to the place', async () => {
  const { context } = await visitDocs();
  const page = await context.newPage();
  const html = (body: string) =>
    `<!doctype html><html lang="en"><title>A page</title><main><h1>A page</h1>${body}</main>`;
  await page.setContent(html('<p>Text</p>'));
  await expectAccessible(page);
  await page.setContent(html('<img src="data:," id="chart">'));
  expect(await accessibilityProblems(page)).toEqual([
    expect.stringMatching(/^image-alt \(critical\): .+; https:/),
    expect.stringMatching(/^ {2}#chart: Element does not have an alt attribute/),
  ]);
  await expect(expectAccessible(page)).rejects.toThrow('image-alt');
});
