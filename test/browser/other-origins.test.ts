/** What pages of other origins can do in the browser of somebody who is signed in. */
import { expect, test } from 'vitest';
import { onSqlite } from '../support/browser/dashboard-server.js';
import { Session } from '../support/browser/dashboard-user.js';
import { dashboardVisits } from '../support/browser/dashboard-visit.js';
import { startHttpServer } from '../support/http-server.js';

const open = dashboardVisits();

const projects = '/api/organizations/default/projects';

/** JSON, in the only form in which a form can send it. */
const form = (action: string) =>
  `<form method="post" enctype="text/plain" action="${action}"><input name='{"name":"Theirs","id":"theirs","x":"' value='"}'></form>`;

// Browsers send cookies with requests of the same site, to which each port of a host belongs.
test.each([
  ['the same site', 'localhost'],
  ['another site', '127.0.0.1'],
])('a page of %s changes, reads and embeds nothing', async (_which, host) => {
  const started = await onSqlite();
  const server = { ...started, url: started.url.replace('127.0.0.1', 'localhost') };
  const session = await Session.setUp(server);
  const paths = ['/', '/sign-in', '/account', '/docs/', '/api/session', '/favicon.svg', '/no-such-page'];
  const pages: Readonly<Record<string, string>> = {
    '/create': form(`${server.url}${projects}`),
    '/sign-out': form(`${server.url}/api/sign-out`),
    '/frames': paths.map((path) => `<iframe src="${server.url}${path}"></iframe>`).join(''),
  };
  const other = await startHttpServer((request, response) => {
    response.setHeader('content-type', 'text/html');
    response.end(`<!doctype html><title>Another</title>${pages[request.url ?? ''] ?? ''}`);
  });
  const at = (path: string) => `${other.replace('127.0.0.1', host)}${path}`;

  // Not one of the pages whose problems fail the test: everything here is a problem.
  const { page: own } = await open({ server, session }, '/account');
  await own.getByText('This one').waitFor();
  const context = await own.context().browser()?.newContext({ storageState: session.signedIn });
  if (context === undefined) throw new Error('the page has no browser');
  const page = await context.newPage();
  try {
    for (const [path, action] of [
      ['/create', projects],
      ['/sign-out', '/api/sign-out'],
    ] as const) {
      await page.goto(at(path));
      const [answer] = await Promise.all([
        page.waitForResponse((response) => response.request().method() === 'POST'),
        page.evaluate('void document.forms[0].submit()'),
      ]);
      expect(answer.status(), path).toBe(403);
      await page.waitForURL(`${server.url}${action}`);
    }
    await page.goto(at('/'));
    for (const [path, more] of [
      [projects, "method: 'POST', mode: 'no-cors', body: '{}'"],
      [projects, "method: 'POST', headers: { 'content-type': 'application/json' }, body: '{}'"],
      ['/api/session', "mode: 'cors'"],
      ['/api/session', "mode: 'no-cors'"],
      ['/v1/openapi.json', "mode: 'no-cors'"],
      ['/favicon.svg', "mode: 'no-cors'"],
    ] as const) {
      const sent = `fetch('${server.url}${path}', { credentials: 'include', ${more} })`;
      expect(await page.evaluate(`${sent}.then(({ type }) => type, () => 'failed')`), sent).toBe('failed');
    }
    await page.goto(at('/frames'));
    expect(
      page
        .frames()
        .slice(1)
        .map((frame) => frame.url()),
    ).toEqual(paths.map(() => 'chrome-error://chromewebdata/'));
    // A page cannot reach a window of the server that it opens.
    await page.evaluate(`window.opened = open('${server.url}/account')`);
    await expect.poll(() => page.evaluate('opened.closed')).toBe(true);
  } finally {
    await context.close();
  }
  const { projects: found } = await session.ask<{ projects: { id: string }[] }>('GET', projects);
  expect(found.map(({ id }) => id)).toEqual(['assistant-demo', 'demo']);
});
