import { describe, expect, test } from 'vitest';
import { errorOf, type KeyName, sharedService } from '../../support/http/http.js';
import { withoutDate } from '../../support/http/http-checks.js';

const statsOf = (project: string) => `/v1/analytics/${project}/assistant/caller-stats`;
const queriesOf = (project: string) => `/v1/analytics/${project}/assistant/queries`;
const query = { headers: { 'content-type': 'application/json' }, body: '{"id":"a","caller":"web"}' };

const service = sharedService();
const recorded = async () => (await service().store.maintenance.verify()).queries;

describe('a project that the key cannot access', () => {
  test.each<[string, KeyName, string, string]>([
    ['an admin key, reading', 'admin', 'GET', statsOf('rival-docs')],
    ['an admin key, a bad parameter', 'admin', 'GET', `${statsOf('rival-docs')}?dateFrom=x`],
    ['an admin key, recording', 'admin', 'POST', queriesOf('rival-docs')],
    ["the other organization's key", 'rivalAdmin', 'GET', statsOf('docs')],
  ])('returns the same 404 as an unknown one: %s', async (_what, name, method, path) => {
    const { send, keys } = service();
    const request = { method, key: keys[name], ...(method === 'POST' ? query : {}) };
    const foreign = await send({ ...request, path });
    const unknown = await send({
      ...request,
      path: path.replace(/analytics\/[^/]+/, 'analytics/rival-dogs'),
    });
    expect(foreign.status).toBe(404);
    expect(withoutDate(foreign)).toEqual(withoutDate(unknown));
    expect(await recorded()).toBe(0);
  });
});

describe('an illegal project id returns 404:', () => {
  test.each([
    ['no characters', ''],
    ['a dot', '%2E'],
    ['two dots', '..'],
    ['two encoded dots', '%2e%2e'],
    ['an encoded slash', 'docs%2Fcaller-stats'],
    ['an encoded slash that leads to another path', 'blog%2F..%2Fdocs'],
    ['upper case', 'DOCS'],
    ['a trailing space', 'docs%20'],
    ['a trailing NUL', 'docs%00'],
    ['a NUL inside', 'docs%00-and-more'],
    ['a line end', 'docs%0A'],
    ['a character that is encoded twice', '%2564ocs'],
    ['a wildcard of SQL', 'doc_'],
    ['another wildcard of SQL', '%25'],
    ['SQL', "docs'%20OR%20'1'='1"],
    ['a character that is not ASCII', '%C3%A9'],
    ['parameters of a path', 'docs;v=1'],
    ['a property of every object', '__proto__'],
    ['15,000 characters', 'd'.repeat(15_000)],
  ])('%s', async (_what, id) => {
    const { sendRaw, keys } = service();
    const headers = `Host: test\r\nAuthorization: Bearer ${keys.admin}\r\nConnection: close`;
    const read = await sendRaw(`GET ${statsOf(id)} HTTP/1.1\r\n${headers}\r\n\r\n`);
    expect([read.status, errorOf(read)]).toEqual([404, 'There is no such project.']);

    const body = `Content-Type: application/json\r\nContent-Length: ${query.body.length}\r\n\r\n${query.body}`;
    const { status } = await sendRaw(`POST ${queriesOf(id)} HTTP/1.1\r\n${headers}\r\n${body}`);
    expect(status).toBe(404);
    expect(await recorded()).toBe(0);
  });
});

test('a project id may be percent-encoded', async () => {
  expect((await service().send({ path: statsOf('%64%6Fcs') })).status).toBe(200);
});
