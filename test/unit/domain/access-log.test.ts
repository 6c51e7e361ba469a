import { describe, expect, test } from 'vitest';
import { parseLogLine } from '../../../src/domain/queries/access-log.js';

const when = '[31/Jan/2026:23:59:59 +0530]';
const common = `192.0.2.1 - - ${when} "POST /assistant/message HTTP/1.1" 200 512`;
const combined = `${common} "https://docs.example.com/start" "Mozilla/5.0 (X11)"`;

const request = {
  occurredAt: '2026-01-31T23:59:59+05:30',
  method: 'POST',
  path: '/assistant/message',
  status: 200,
  referer: '',
  userAgent: '',
};
const browser = { ...request, referer: 'https://docs.example.com/start', userAgent: 'Mozilla/5.0 (X11)' };

describe('a line is refused', () => {
  test.each([
    ['of another log', '2026/01/31 23:59:59 [error] 12#12: *1 open() failed'],
    ['of JSON', '{"status":200}'],
    ['that is cut short', combined.slice(0, 60)],
    ['without a status', common.replace(' 200 512', '')],
    ['with a time of another form', combined.replace(when, '[2026-01-31T23:59:59+05:30]')],
    ['with a quote that nothing closes', combined.slice(0, -1)],
    ['that is very long and nearly one', `${common} "${'\\"'.repeat(30_000)}`],
  ])('%s', (_what, text) => {
    const parsed = parseLogLine(text);
    expect(parsed.ok ? parsed.value : parsed.problems.join()).toMatch(/^is not a line of an access log: /);
  });

  test('with a month that is none', () => {
    expect(parseLogLine(combined.replace('Jan', 'Jnr'))).toMatchObject({ ok: false });
    expect(parseLogLine(combined.replace('Jan', 'Mai'))).toEqual({
      ok: false,
      problems: ['"Mai" is not the name of a month, as in 31/Jan/2026'],
    });
  });
});

describe('a line is read:', () => {
  test.each<[string, string, object]>([
    ['combined', combined, browser],
    ['common', common, request],
    ['with a virtual host before it', `docs.example.com:443 ${combined}`, browser],
    ['with a virtual host of IPv6', `[2001:db8::1]:443 ${combined}`, browser],
    ['of an IPv6 client', combined.replace('192.0.2.1', '2001:db8::1'), browser],
    ['with a user, even of two words', combined.replace('- -', '- Jane Doe'), browser],
    ['with fields behind it', `${combined} "192.0.2.7" rt=0.123`, browser],
    ['with fields behind the common format', `${common} 0.123`, request],
    ['without bytes', combined.replace('512', '-'), browser],
    ['without referer and user agent', `${common} "-" "-"`, request],
    ['without a version, as of old', common.replace(' HTTP/1.1', ''), request],
    ['with a query', common.replace('message', 'message?q=a#b'), request],
    [
      'with a whole address, as to a proxy',
      common.replace('/assistant', 'https://docs.example.com/assistant'),
      request,
    ],
    [
      'with quotes as Apache writes them',
      `${common} "-" "a \\"b\\" \\\\"`,
      { ...request, userAgent: 'a "b" \\' },
    ],
    ['with quotes as nginx writes them', `${common} "-" "a \\x22b\\x22"`, { ...request, userAgent: 'a "b"' }],
    [
      'about no request at all',
      common.replace(/"POST.*" 200/, '"\\x16\\x03\\x01" 400'),
      { ...request, method: undefined, path: '', status: 400 },
    ],
    [
      'about nothing',
      common.replace(/"POST.*" 200/, '"-" 408'),
      { ...request, method: undefined, path: '', status: 408 },
    ],
    [
      'about what only begins, or ends, as a request',
      common.replace('POST', 'a POST'),
      { ...request, method: undefined, path: '' },
    ],
    [
      'about a request with more behind it',
      common.replace('HTTP/1.1', 'HTTP/1.1 x'),
      { ...request, method: undefined, path: '' },
    ],
    [
      'about all of a server',
      common.replace('POST /assistant/message', 'OPTIONS *'),
      { ...request, method: 'OPTIONS', path: '*' },
    ],
  ])('%s', (_what, text, expected) => {
    expect(parseLogLine(text)).toEqual({ ok: true, value: expected });
  });
});
