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

describe('a line of an access log is refused', () => {
  test.each([
    ['of an error log', '2026/01/31 23:59:59 [error] 12#12: *1 open() failed'],
    ['of a JSON log', '{"status":200}'],
    ['that is cut', combined.slice(0, 60)],
    ['without a status', common.replace(' 200 512', '')],
    ['with a time in another format', combined.replace(when, '[2026-01-31T23:59:59+05:30]')],
    ['with a quote that is not closed', combined.slice(0, -1)],
    ['that is very long and has one wrong quote', `${common} "${'\\"'.repeat(30_000)}`],
  ])('%s', (_what, text) => {
    const parsed = parseLogLine(text);
    expect(parsed.ok ? parsed.value : parsed.problems.join()).toMatch(/^is not a line of an access log: /);
  });

  test('with an invalid month', () => {
    expect(parseLogLine(combined.replace('Jan', 'Jnr'))).toMatchObject({ ok: false });
    expect(parseLogLine(combined.replace('Jan', 'Mai'))).toEqual({
      ok: false,
      problems: ['"Mai" is not the name of a month, as in 31/Jan/2026'],
    });
  });
});

describe('a line of an access log is read', () => {
  test.each<[string, string, object]>([
    ['in the combined format', combined, browser],
    ['in the common format', common, request],
    ['with a virtual host before it', `docs.example.com:443 ${combined}`, browser],
    ['with a virtual host that is an IPv6 address', `[2001:db8::1]:443 ${combined}`, browser],
    ['of an IPv6 client', combined.replace('192.0.2.1', '2001:db8::1'), browser],
    ['with a user name of two words', combined.replace('- -', '- Jane Doe'), browser],
    ['with more fields after it', `${combined} "192.0.2.7" rt=0.123`, browser],
    ['with more fields after the common format', `${common} 0.123`, request],
    ['without bytes', combined.replace('512', '-'), browser],
    ['without referer and user agent', `${common} "-" "-"`, request],
    ['without an HTTP version', common.replace(' HTTP/1.1', ''), request],
    ['with a query string', common.replace('message', 'message?q=a#b'), request],
    ['with an absolute URL', common.replace('/assistant', 'https://docs.example.com/assistant'), request],
    [
      'with quotes escaped by Apache',
      `${common} "-" "a \\"b\\" \\\\"`,
      { ...request, userAgent: 'a "b" \\' },
    ],
    ['with quotes escaped by nginx', `${common} "-" "a \\x22b\\x22"`, { ...request, userAgent: 'a "b"' }],
    [
      'with bytes that are not a request',
      common.replace(/"POST.*" 200/, '"\\x16\\x03\\x01" 400'),
      { ...request, method: undefined, path: '', status: 400 },
    ],
    [
      'without a request',
      common.replace(/"POST.*" 200/, '"-" 408'),
      { ...request, method: undefined, path: '', status: 408 },
    ],
    [
      'with text before a request',
      common.replace('POST', 'a POST'),
      { ...request, method: undefined, path: '' },
    ],
    [
      'with text after a request',
      common.replace('HTTP/1.1', 'HTTP/1.1 x'),
      { ...request, method: undefined, path: '' },
    ],
    [
      'with an asterisk as target',
      common.replace('POST /assistant/message', 'OPTIONS *'),
      { ...request, method: 'OPTIONS', path: '*' },
    ],
  ])('%s', (_what, text, expected) => {
    expect(parseLogLine(text)).toEqual({ ok: true, value: expected });
  });
});

describe('a line of JSON', () => {
  const caddy = (more: object = {}, request: object = {}) =>
    JSON.stringify({
      level: 'info',
      ts: 1769884199.987654,
      request: {
        method: 'POST',
        uri: '/assistant/message?q=1',
        headers: { 'User-Agent': ['Mozilla/5.0 (X11)'], Referer: ['https://docs.example.com/start'] },
        ...request,
      },
      status: 200,
      ...more,
    });
  const nginx = (more: object = {}) =>
    JSON.stringify({
      time_iso8601: '2026-01-31T23:59:59+05:30',
      request: 'POST /assistant/message?q=1 HTTP/1.1',
      status: '200',
      http_referer: 'https://docs.example.com/start',
      http_user_agent: 'Mozilla/5.0 (X11)',
      ...more,
    });
  const shape = /^is not a line of an access log: .*; Caddy logs request/;
  test.each<[string, string, RegExp]>([
    ['that is cut', nginx().slice(0, -1), /^is not JSON: /],
    ['without a status', nginx({ status: undefined }), shape],
    ['with a status of two digits', nginx({ status: 20 }), shape],
    ['without a request', nginx({ request: undefined }), shape],
    ['without a time', nginx({ time_iso8601: undefined }), /^has no time; Caddy logs request/],
    ['with a date as time', nginx({ time_iso8601: '2026-01-31' }), /^time: "2026-01-31" has no time/],
    [
      'with a time in milliseconds',
      caddy({ ts: 1769884199987 }),
      /^time: 1769884199987 is too large for seconds/,
    ],
    [
      'with an unknown month',
      nginx({ time_iso8601: undefined, time_local: '31/Mai/2026:23:59:59 +0530' }),
      /^time: /,
    ],
  ])('is refused %s', (_what, text, problem) => {
    const parsed = parseLogLine(text);
    expect(parsed.ok ? parsed.value : parsed.problems.join()).toMatch(problem);
  });

  const whole = { ...browser, occurredAt: '2026-01-31T18:29:59.000Z' };
  const fraction = { ...browser, occurredAt: '2026-01-31T18:29:59.987Z' };
  const anonymous = { ...fraction, referer: '', userAgent: '' };
  test.each<[string, string, object]>([
    ['of Caddy', caddy(), fraction],
    ['of Caddy with a time as text', caddy({ ts: '2026-01-31T23:59:59.987+0530' }), fraction],
    ['of Caddy without headers', caddy({}, { headers: {} }), anonymous],
    ['of Caddy with deleted headers', caddy({}, { headers: undefined }), anonymous],
    ['of nginx', nginx(), whole],
    [
      'of nginx with the local time',
      nginx({ time_iso8601: undefined, time_local: '31/Jan/2026:23:59:59 +0530' }),
      whole,
    ],
    ['of nginx with milliseconds', nginx({ msec: '1769884199.987' }), fraction],
    [
      'of nginx with method and address',
      nginx({ request: undefined, request_method: 'POST', request_uri: '/assistant/message?q=1' }),
      whole,
    ],
    ['of nginx with a number as status', nginx({ status: 200 }), whole],
    [
      'of nginx without referer and user agent',
      nginx({ http_referer: '', http_user_agent: '-' }),
      { ...whole, referer: '', userAgent: '' },
    ],
    [
      'of nginx with noise',
      nginx({ request: '\u0016\u0003', status: '400' }),
      { ...whole, method: undefined, path: '', status: 400 },
    ],
  ])('is read %s', (_what, text, expected) => {
    expect(parseLogLine(text)).toEqual({ ok: true, value: expected });
  });
});
