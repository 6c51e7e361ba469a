import { describe, expect, test } from 'vitest';
import { errorOf, type KeyName, startService } from '../support/http.js';
import type { Answer } from '../support/http-checks.js';

const statsOf = (project: string) => `/v1/analytics/${project}/assistant/caller-stats`;
const queriesOf = (project: string) => `/v1/analytics/${project}/assistant/queries`;
const query = { headers: { 'content-type': 'application/json' }, body: '{"id":"a","caller":"web"}' };

/** All that a client sees, but for the time. */
function seen({ status, headers, text }: Answer): unknown {
  return { status, text, headers: { ...headers, date: undefined } };
}

describe('a project that the key does not open', () => {
  test.each<[string, KeyName, string, string]>([
    ['an admin key, reading', 'admin', 'GET', statsOf('rival-docs')],
    ['an admin key, HEAD', 'admin', 'HEAD', statsOf('rival-docs')],
    ['an admin key, a bad parameter', 'admin', 'GET', `${statsOf('rival-docs')}?dateFrom=x`],
    ['an admin key, a wrong method', 'admin', 'PUT', statsOf('rival-docs')],
    ['an admin key, recording', 'admin', 'POST', queriesOf('rival-docs')],
    ['a recording key', 'recording', 'POST', queriesOf('rival-docs')],
    ["the other organization's key", 'rivalAdmin', 'GET', statsOf('docs')],
  ])('cannot be told from one that there is not: %s', async (_what, name, method, path) => {
    const { send, store, keys } = await startService();
    const request = { method, key: keys[name], ...(method === 'POST' ? query : {}) };
    const theirs = await send({ ...request, path });
    const unknown = await send({
      ...request,
      path: path.replace(/analytics\/[^/]+/, 'analytics/rival-dogs'),
    });
    expect(theirs.status).toBe(404);
    expect(seen(theirs)).toEqual(seen(unknown));
    expect((await store.verify()).queries).toBe(0);
  });

  test('a recording key opens no other project, of the same organization neither', async () => {
    const { send, store, keys } = await startService();
    const answer = await send({ ...query, method: 'POST', path: queriesOf('docs'), key: keys.recordingBlog });
    expect([answer.status, errorOf(answer)]).toEqual([404, 'There is no such project.']);
    expect((await store.verify()).queries).toBe(0);
    const own = await send({ ...query, method: 'POST', path: queriesOf('blog'), key: keys.recordingBlog });
    expect(own.status).toBe(200);
  });

  test('each organization reaches its own', async () => {
    const { send, keys } = await startService();
    expect((await send({ path: statsOf('docs') })).status).toBe(200);
    expect((await send({ path: statsOf('blog') })).status).toBe(200);
    expect((await send({ path: statsOf('rival-docs'), key: keys.rivalAdmin })).status).toBe(200);
  });
});

describe('an id that no project can have is an unknown project', () => {
  test.each([
    ['empty', ''],
    ['a dot', '%2E'],
    ['two dots', '..'],
    ['two encoded dots', '%2e%2e'],
    ['an encoded slash', 'docs%2Fcaller-stats'],
    ['an encoded slash that leads to another path', 'blog%2F..%2Fdocs'],
    ['upper case', 'DOCS'],
    ['a space after it', 'docs%20'],
    ['a NUL after it', 'docs%00'],
    ['a NUL and more after it', 'docs%00-and-more'],
    ['a line end', 'docs%0A'],
    ['twice encoded', '%2564ocs'],
    ['a wildcard of SQL', 'doc_'],
    ['another wildcard of SQL', '%25'],
    ['SQL', "docs'%20OR%20'1'='1"],
    ['not ASCII', '%C3%A9'],
    ['parameters of a path', 'docs;v=1'],
    ['a name of JavaScript', '__proto__'],
    ['15,000 characters', 'd'.repeat(15_000)],
  ])('%s', async (_what, id) => {
    const { sendRaw, keys, store } = await startService();
    const headers = `Host: test\r\nAuthorization: Bearer ${keys.admin}\r\nConnection: close`;
    const read = await sendRaw(`GET ${statsOf(id)} HTTP/1.1\r\n${headers}\r\n\r\n`);
    expect([read.status, errorOf(read)]).toEqual([404, 'There is no such project.']);

    const body = `Content-Type: application/json\r\nContent-Length: ${query.body.length}\r\n\r\n${query.body}`;
    const recorded = await sendRaw(`POST ${queriesOf(id)} HTTP/1.1\r\n${headers}\r\n${body}`);
    expect(recorded.status).toBe(404);
    expect((await store.verify()).queries).toBe(0);
  });

  test('an id may be percent-encoded, needed or not', async () => {
    const { send } = await startService();
    expect((await send({ path: statsOf('%64%6Fcs') })).status).toBe(200);
  });
});
