/** The dashboard's cookies and their attributes. */
import { describe, expect, test } from 'vitest';
import type { BasePath } from '../../../src/http/request/base-path.js';
import { Browser, invite, PASSWORD, signedIn } from '../../support/http/dashboard.js';
import { startService } from '../../support/http/http.js';
import type { Answer } from '../../support/http/http-checks.js';

const ada = 'ada@example.org';

/** The names of the cookies that a response sets, with their attributes except the lifetime. */
function readAttributes({ cookies }: Answer): Record<string, string> {
  const entries = cookies.map((cookie) => {
    const [pair = '', ...attributes] = cookie.split('; ');
    const lasting = attributes.filter((one) => !/^Max-Age=/i.test(one));
    return [pair.slice(0, pair.indexOf('=')), lasting.toSorted().join('; ')];
  });
  return Object.fromEntries(entries) as Record<string, string>;
}

/** The text with a different first character. The last one would not do: not all of its bits count in Base64. */
function withOtherStart(text: string): string {
  return `${text.startsWith('A') ? 'B' : 'A'}${text.slice(1)}`;
}

const forwarded = { 'x-forwarded-proto': 'https' };
const https = { ...forwarded, host: 'localhost', origin: 'https://localhost' };
const insecure = {
  'caller-stats.session_token': 'HttpOnly; Path=/; SameSite=Lax',
  'caller-stats.device': 'HttpOnly; Path=/api; SameSite=Strict',
};
const secure = {
  '__Host-caller-stats.session_token': 'HttpOnly; Path=/; SameSite=Lax; Secure',
  '__Host-caller-stats.device': 'HttpOnly; Path=/; SameSite=Strict; Secure',
};
const belowPath = {
  '__Secure-caller-stats.session_token': 'HttpOnly; Path=/stats; SameSite=Lax; Secure',
  '__Secure-caller-stats.device': 'HttpOnly; Path=/stats/api; SameSite=Strict; Secure',
};

describe('cookies', () => {
  test('are HttpOnly and SameSite', async () => {
    const service = await startService();
    await signedIn(service, ada, 'owner');
    const answer = await new Browser(service).signIn(ada);
    expect(readAttributes(answer)).toEqual(insecure);
    expect(answer.cookies.map((cookie) => /Max-Age=(\d+)/.exec(cookie)?.[1])).toEqual(['604800', '31536000']);
  });

  test.each([
    ['are Secure if the public URL is HTTPS', 'https://stats.example.org', {}, secure],
    ['are not Secure if the public URL is HTTP', 'http://stats.example.org', forwarded, insecure],
    ['are Secure if a trusted proxy says HTTPS', undefined, https, secure],
    ['are not Secure if a trusted proxy does not say HTTPS', undefined, {}, insecure],
  ])('%s', async (_what, publicUrl, headers, expected) => {
    const service = await startService({ trustProxy: ['192.0.2.0/24'], users: { publicUrl } });
    await signedIn(service, ada, 'owner');
    const browser = new Browser(service, '192.0.2.9');
    const signIn = { path: '/api/sign-in', body: { email: ada, password: PASSWORD }, headers };
    expect(readAttributes(await browser.send(signIn))).toEqual(expected);
    expect((await browser.send({ path: '/api/sessions', headers })).status).toBe(200);
    if (publicUrl !== undefined) return;
    const untrusted = new Browser(service, '198.51.100.9');
    expect(readAttributes(await untrusted.send(signIn))).toEqual(insecure);
  });

  test('are Secure with a base path, which excludes __Host-', async () => {
    const publicUrl = 'https://stats.example.org';
    const service = await startService({ basePath: '/stats' as BasePath, users: { publicUrl } });
    const browser = new Browser(service);
    const body = { token: await invite(service, ada, 'owner'), name: 'Ada', password: PASSWORD };
    const joined = await browser.send({ path: '/stats/api/invitations/accept', body });
    expect(readAttributes(joined)).toEqual(belowPath);
    expect((await browser.send({ path: '/stats/api/sessions' })).status).toBe(200);
  });

  test('of the session are deleted at sign-out, but not that of the device', async () => {
    const service = await startService();
    const browser = await signedIn(service, ada, 'owner');
    const thief = browser.copy();
    const answer = await browser.send({ path: '/api/sign-out', body: {} });
    expect(answer.status).toBe(204);
    expect([...browser.cookies.keys()]).toEqual(['caller-stats.device']);
    for (const one of [browser, thief]) expect((await one.send({ path: '/api/sessions' })).status).toBe(401);
    expect((await browser.send({ path: '/api/sign-out', body: {} })).status).toBe(204);
  });

  test('with a forged session are rejected', async () => {
    const service = await startService();
    const browser = await signedIn(service, ada, 'owner');
    const token = browser.cookie('caller-stats.session_token') ?? '';
    expect(token.length).toBeGreaterThan(60);
    const [value = '', signature = ''] = decodeURIComponent(token).split('.');
    const forged = [
      value,
      `${value}.`,
      `${value}.${withOtherStart(signature)}`,
      `${withOtherStart(value)}.${signature}`,
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

  test('of other programs on the host are ignored', async () => {
    const service = await startService();
    const browser = await signedIn(service, ada, 'owner');
    browser.setCookie('other', '%E0%A4%A');
    browser.setCookie('caller-stats.other', '"; x=y');
    expect((await browser.send({ path: '/api/sessions' })).status).toBe(200);
  });
});
