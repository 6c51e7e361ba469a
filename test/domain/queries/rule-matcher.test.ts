import { describe, expect, test } from 'vitest';
import { RuleMatcher } from '../../../src/domain/queries/rule-matcher.js';
import { formatQueryRules } from '../../../src/domain/queries/telemetry-rules.js';
import { parseQueryRules } from '../../../src/domain/queries/telemetry-settings.js';
import { spanId, traceId } from '../../support/http/telemetry.js';

function rulesOf(text: string) {
  const parsed = parseQueryRules(text);
  if (!parsed.ok) throw new Error(parsed.problems.join());
  expect(formatQueryRules(parsed.value)).toBe(text);
  return parsed.value;
}

interface Told {
  readonly isEntry?: boolean;
  readonly name?: string;
  readonly isLog?: boolean;
  readonly parentSpanId?: string;
  readonly resource?: Readonly<Record<string, string>>;
}

function accepts(text: string, attributes: Readonly<Record<string, string>>, told: Told = {}): boolean {
  return new RuleMatcher(rulesOf(text)).accepts({
    ...{ traceId: traceId(1), spanId: spanId(1), parentSpanId: '', name: '', timeNs: 0n },
    ...{ isLog: false, isEntry: true, isConsumer: false, ...told },
    attributes: new Map(Object.entries(attributes)),
    resource: new Map(Object.entries(told.resource ?? {})),
  });
}

const ask = { 'http.route': '/ask', 'http.request.method': 'POST', 'http.response.status_code': '200' };
const within = { isEntry: false, parentSpanId: spanId(2) };

describe('a rule of a route', () => {
  test.each<[what: string, attributes: Readonly<Record<string, string>>, told?: Told]>([
    ['a page', { ...ask, 'http.request.method': 'GET' }],
    ['a request before another one', { ...ask, 'http.request.method': 'OPTIONS' }],
    ['with the names of Spring', { uri: '/ask', method: 'GET', status: '200' }],
    ['with older names', { 'http.target': '/ask?q=1', 'http.method': 'GET' }],
    ['a refused request', { ...ask, 'http.response.status_code': '429' }],
    ['a failed request, with older names', { 'http.route': '/ask', 'http.status_code': '500' }],
    ['another route of the same path', { ...ask, 'http.route': '/**', 'url.path': '/ask' }],
    ['the handler in a request, of which it does not know what becomes', { 'http.route': '/ask' }, within],
    ['the path of a span that is not a request', { 'http.target': '/ask' }, within],
    ['a list of tools', { ...ask, 'mcp.method.name': 'tools/list' }],
  ])('does not accept %s', (_what, attributes, told) => {
    expect(accepts('http.route=/ask', attributes, told)).toBe(false);
  });

  test.each<[what: string, attributes: Readonly<Record<string, string>>, told?: Told]>([
    ['a request', ask],
    ['a request, as Django and ASP.NET write its route', { ...ask, 'http.route': 'ask' }],
    ['a request, as Rails writes its route', { ...ask, 'http.route': '/ask(.:format)' }],
    ['a stream that has no status yet', { 'http.route': '/ask', 'http.method': 'POST' }],
    ['a path without a route', { 'url.path': '/ask' }],
    ['a request, with the names of Spring', { uri: '/ask', method: 'POST', status: '200' }],
    ['an older path', { 'http.target': '/ask?q=1' }],
    ['a span of a framework that knows the method', ask, within],
    ['a first span', { 'http.route': '/ask' }, { isEntry: false }],
    ['a log record', { 'http.route': '/ask' }, { isEntry: false, isLog: true }],
    ['a call of a tool', { ...ask, 'mcp.method.name': 'tools/call' }],
  ])('accepts %s', (_what, attributes, told) => {
    expect(accepts('http.route=/ask', attributes, told)).toBe(true);
  });

  test('of an MCP server accepts only what says that it calls a tool', () => {
    const call = { ...ask, 'http.route': '/mcp' };
    expect(accepts('http.route=/mcp', call)).toBe(false);
    expect(accepts('http.route=/mcp', { ...call, 'http.request.header.mcp-method': 'tools/call' })).toBe(
      true,
    );
  });
});

test('a rule of the name of a span', () => {
  const rules = 'span.name=answer & service.name=docs';
  const named = (name: string, service: string) =>
    accepts(rules, {}, { name, resource: { 'service.name': service } });
  expect([named('answer', 'docs'), named('search', 'docs'), named('answer', 'blog')]).toEqual([
    ...[true, false, false],
  ]);
});

describe('joined conditions', () => {
  const search = 'http.route=/ask,/search & http.method=GET,POST & http.response.status_code=200';
  test.each([
    ['all are met', ask, true],
    [
      'with the other names',
      { 'url.path': '/search', 'http.method': 'GET', 'http.status_code': '200' },
      true,
    ],
    ['one is not met', { ...ask, 'http.response.status_code': '201' }, false],
    ['one is missing', { 'http.route': '/ask', 'http.method': 'GET' }, false],
  ])('%s', (_what, attributes, is) => {
    expect(accepts(search, attributes)).toBe(is);
  });

  test('replace only the defaults of what they name', () => {
    const rule = 'http.request.method=GET & http.route=/ask';
    const get = { ...ask, 'http.request.method': 'GET' };
    expect(
      [get, ask, { ...get, 'http.response.status_code': '404' }].map((one) => accepts(rule, one)),
    ).toEqual([true, false, false]);
    const status = 'http.route=/ask & http.response.status_code=404';
    expect(accepts(status, { ...ask, 'http.response.status_code': '404' })).toBe(true);
    const list = 'http.route=/mcp & mcp.method.name=tools/list';
    expect(accepts(list, { ...ask, 'http.route': '/mcp', 'mcp.method.name': 'tools/list' })).toBe(true);
  });

  test('may name the service, and any of several rules', () => {
    const rules = 'event.name=question & service.name=docs;http.route=/ask & url.path=/ask;event.name=q & a';
    const event = (name: string, service: string) =>
      accepts(rules, { 'event.name': name }, { resource: { 'service.name': service } });
    expect([event('question', 'docs'), event('question', 'blog'), event('q & a', 'blog')]).toEqual([
      ...[true, false, true],
    ]);
    expect(accepts(rules, { ...ask, 'url.path': '/ask' })).toBe(true);
    expect(accepts(rules, ask)).toBe(false);
  });

  test('are no part of a value without the name of an attribute', () => {
    for (const value of ['/a?b=1&c=2', 'a & b', 'a&b.c'])
      expect(rulesOf(`x.y=${value}`)).toEqual([{ attribute: 'x.y', values: [value] }]);
    expect(parseQueryRules('x.y=a&http.method=GET')).toEqual(parseQueryRules('x.y=a & http.method=GET'));
    expect(parseQueryRules('http.route=/ask & http.method=').ok).toBe(false);
  });
});
