/** What browsers are told to keep, and for whom. */
import { describe, expect, test } from 'vitest';
import { Browser, PASSWORD, signedIn } from '../support/dashboard.js';
import { startService } from '../support/http.js';
import type { Answer } from '../support/http-checks.js';

const ada = 'ada@example.org';

/** A cookie's name, and its attributes but for its life. */
function shapeOf(cookie: string): readonly [name: string, attributes: string] {
  const [pair = '', ...attributes] = cookie.split('; ');
  return [
    pair.slice(0, pair.indexOf('=')),
    attributes
      .filter((one) => !/^Max-Age=/i.test(one))
      .toSorted()
      .join('; '),
  ];
}

const shapesOf = ({ cookies }: Answer) => Object.fromEntries(cookies.map(shapeOf));

describe('cookies', () => {
  test('are for the server alone, and no script reads them', async () => {
    const service = await startService();
    await signedIn(service, ada, 'owner');
    const answer = await new Browser(service).signIn(ada);
    expect(shapesOf(answer)).toEqual({
      'caller-stats.session_token': 'HttpOnly; Path=/; SameSite=Lax',
      'caller-stats.device': 'HttpOnly; Path=/api; SameSite=Strict',
    });
    expect(answer.cookies.map((cookie) => /Max-Age=(\d+)/.exec(cookie)?.[1])).toEqual(['604800', '31536000']);
  });

  const secure = {
    '__Secure-caller-stats.session_token': 'HttpOnly; Path=/; SameSite=Lax; Secure',
    '__Secure-caller-stats.device': 'HttpOnly; Path=/api; SameSite=Strict; Secure',
  };

  test('are Secure where browsers are known to come by HTTPS', async () => {
    const service = await startService({ users: { publicUrl: 'https://stats.example.org' } });
    await signedIn(service, ada, 'owner');
    expect(shapesOf(await new Browser(service).signIn(ada))).toEqual(secure);
  });

  test('are Secure where a proxy that is trusted says HTTPS, and work so', async () => {
    const service = await startService({ trustProxy: ['192.0.2.0/24'] });
    await signedIn(service, ada, 'owner');
    const https = { 'x-forwarded-proto': 'https' };
    const browser = new Browser(service, '192.0.2.9');
    const body = { email: ada, password: PASSWORD };
    expect(shapesOf(await browser.send({ path: '/api/sign-in', body, headers: https }))).toEqual(secure);
    expect((await browser.send({ path: '/api/sessions', headers: https })).status).toBe(200);
    const stranger = new Browser(service, '198.51.100.9');
    const names = Object.keys(shapesOf(await stranger.send({ path: '/api/sign-in', body, headers: https })));
    expect(names).toEqual(['caller-stats.session_token', 'caller-stats.device']);
  });

  test('are not Secure where browsers are known to come by HTTP, whatever a proxy says', async () => {
    const service = await startService({
      trustProxy: ['192.0.2.0/24'],
      users: { publicUrl: 'http://stats.example.org' },
    });
    await signedIn(service, ada, 'owner');
    const body = { email: ada, password: PASSWORD };
    const answer = await new Browser(service).send({
      path: '/api/sign-in',
      body,
      headers: { 'x-forwarded-proto': 'https' },
    });
    expect(Object.keys(shapesOf(answer))).toEqual(['caller-stats.session_token', 'caller-stats.device']);
  });

  test('of a session are gone at sign-out, and the session with them; the device stays known', async () => {
    const service = await startService();
    const browser = await signedIn(service, ada, 'owner');
    const thief = browser.copy();
    const answer = await browser.send({ path: '/api/sign-out', body: {} });
    expect(answer.status).toBe(204);
    expect([...browser.cookies.keys()]).toEqual(['caller-stats.device']);
    for (const one of [browser, thief]) expect((await one.send({ path: '/api/sessions' })).status).toBe(401);
    expect((await browser.send({ path: '/api/sign-out', body: {} })).status).toBe(204);
  });

  test('that were changed open nothing', async () => {
    const service = await startService();
    const browser = await signedIn(service, ada, 'owner');
    const token = browser.cookie('caller-stats.session_token') ?? '';
    expect(token.length).toBeGreaterThan(60);
    const [value = '', signature = ''] = decodeURIComponent(token).split('.');
    const forged = [
      value,
      `${value}.`,
      `${value}.${signature.slice(0, -4)}AAA=`,
      `${value.slice(0, -1)}x.${signature}`,
      `${signature}.${value}`,
      `.${signature}`,
    ];
    for (const one of forged) {
      browser.setCookie('caller-stats.session_token', encodeURIComponent(one));
      expect((await browser.send({ path: '/api/sessions' })).status, one.length.toString()).toBe(401);
    }
    browser.setCookie('caller-stats.session_token', token);
    expect((await browser.send({ path: '/api/sessions' })).status).toBe(200);
  });

  test('of other programs on the host are left alone', async () => {
    const service = await startService();
    const browser = await signedIn(service, ada, 'owner');
    browser.setCookie('other', '%E0%A4%A');
    browser.setCookie('caller-stats.other', '"; x=y');
    expect((await browser.send({ path: '/api/sessions' })).status).toBe(200);
  });
});
