import { createConfig, lintFromString } from '@redocly/openapi-core';
import fc from 'fast-check';
import { describe, expect, test } from 'vitest';
import { correctionReasonCharactersMax, importedCountMax } from '../../../src/domain/limits.js';
import { CALLER_TYPES } from '../../../src/domain/queries/caller.js';
import { parseQuery } from '../../../src/domain/queries/query.js';
import { BOUND_PATTERN } from '../../../src/domain/time/date-time.js';
import {
  CALLERS,
  QUERIES,
  SERIES,
  STATS,
  sharedService,
  startMs,
  startService,
} from '../../support/http/http.js';
import { at, entriesOf } from '../../support/http/openapi.js';

/** Fewer runs might not produce every kind of input, which the tests require. */
const runs = { numRuns: 1000 };

/** Operations whose responses have the encoding of the request. */
const OTLP = ['/v1/traces', '/v1/logs', '/v1/metrics'];

/** The operations of a document as [method, path, operation]. */
function listOperations(document: unknown): [string, string, unknown][] {
  return entriesOf(at(document, 'paths')).flatMap(([path, item]) =>
    entriesOf(item).map(([method, operation]): [string, string, unknown] => [method, path, operation]),
  );
}

/** All schemas of a document with their places, but for those of protobuf, which has its own. */
function schemasIn(value: unknown, where = ''): [string, object][] {
  const inner = (
    Array.isArray(value) ? value.map((one, at) => [`${at}`, one] as const) : entriesOf(value)
  ).flatMap(([name, one]) => schemasIn(one, `${where}/${name}`));
  const isSchema =
    !where.includes('protobuf') &&
    /\/(schema|items|schemas\/[^/]+|properties\/[^/]+|anyOf\/\d+)$/.test(where);
  return isSchema ? [[where, value as object], ...inner] : inner;
}

/** The media types of a successful response. */
function typesOf(method: string, path: string): string[] {
  if (method === 'get' && path.endsWith('/queries')) return ['application/x-ndjson', 'text/csv'];
  return OTLP.includes(path) ? ['application/json', 'application/x-protobuf'] : ['application/json'];
}

describe('the OpenAPI document', () => {
  const service = sharedService();
  test('is valid OpenAPI 3.1 without warnings', async () => {
    const { send } = service();
    const source = (await send({ path: '/openapi.json', key: null })).text;
    expect(at(JSON.parse(source), 'openapi')).toMatch(/^3\.1\./);
    const config = await createConfig({ extends: ['recommended'] });
    const problems = await lintFromString({ source, absoluteRef: 'openapi.json', config });
    expect(problems.map(({ severity, ruleId, message }) => `${severity} ${ruleId}: ${message}`)).toEqual([]);
  });

  test('has patterns in the syntax of every language', () => {
    const patterns = JSON.stringify(service().openApi.document).match(/"pattern":"(\\.|[^"\\])*"/g) ?? [];
    expect(patterns.length).toBeGreaterThan(10);
    expect(patterns.filter((one) => /\\[pPuxk][{<]|\(\?<?[=!]/.test(one))).toEqual([]);
  });

  test('has the rules of a query', () => {
    const validate = service().openApi.validator(['components', 'schemas', 'Query']);
    const good = { id: 'a', caller: 'web', occurredAt: '2026-01-31T00:00:00Z' };
    expect(validate(good)).toBe(true);
    const [longId, longName] = ['x'.repeat(129), 'x'.repeat(65)];
    for (const wrong of [
      ...[{ id: '' }, { id: longId }, { caller: 'a b' }, { caller: longName }],
      ...[{ occurredAt: '2026-01-31' }, { other: 1 }],
    ])
      expect(validate({ ...good, ...wrong }), JSON.stringify(wrong)).toBe(false);
  });

  test.each<[string, object, readonly object[]]>([
    [
      'ImportedCount',
      { source: 'a', caller: 'web', start: '2026-01-01T00:00:00Z', end: '2026-01-02T00:00:00Z', count: 1 },
      [{ source: 'a b' }, { caller: 'A' }, { start: '2026-01-01' }, { end: 'x' }, { count: -1 }],
    ],
    [
      'ImportedCount',
      {
        source: 'a',
        caller: 'web',
        start: '2026-01-01T00:00:00Z',
        end: '2026-01-02T00:00:00Z',
        count: importedCountMax,
      },
      [{ count: importedCountMax + 1 }, { other: 1 }],
    ],
    [
      'CorrectionRequest',
      { id: 'a', action: 'withdraw', reason: 'b', caller: 'web' },
      [
        { id: '' },
        { action: 'x' },
        { reason: 'x'.repeat(correctionReasonCharactersMax + 1) },
        { caller: 'A' },
      ],
    ],
    [
      'CorrectionRequest',
      { id: 'a', action: 'withdraw', reason: 'b', ids: ['a'] },
      [{ ids: [] }, { dateFrom: 'x' }, { source: 'a b' }, { to: 'A' }, { other: 1 }],
    ],
  ])('has the rules of %s', (name, good, wrongs) => {
    const validate = service().openApi.validator(['components', 'schemas', name]);
    expect(validate(good)).toBe(true);
    for (const wrong of wrongs) expect(validate({ ...good, ...wrong }), JSON.stringify(wrong)).toBe(false);
  });

  test('links a correction to the operation that reads it', () => {
    const { paths } = service().openApi.document as { paths: Record<string, unknown> };
    const correct = at(paths['/v1/analytics/{projectId}/assistant/corrections'], 'post', 'responses');
    for (const status of ['200', '202'])
      expect(at(correct, status, 'links', 'findCorrection')).toMatchObject({ operationId: 'findCorrection' });
  });

  test('lists and describes every operation', async () => {
    const { openApi } = service();
    const operations = listOperations(openApi.document);
    expect(operations.map(([method, path]) => `${method} ${path}`)).toEqual([
      `get ${STATS.replace('docs', '{projectId}')}`,
      `get ${SERIES.replace('docs', '{projectId}')}`,
      `get ${CALLERS.replace('docs', '{projectId}')}`,
      `get ${CALLERS.replace('docs', '{projectId}').replace('callers', 'changes')}`,
      `get ${CALLERS.replace('docs', '{projectId}').replace('callers', 'ingestion')}`,
      'get /v1/analytics/{projectId}/assistant/imported-counts/cuts',
      `get ${QUERIES.replace('docs', '{projectId}')}`,
      `post ${QUERIES.replace('docs', '{projectId}')}`,
      'post /v1/analytics/{projectId}/assistant/imported-counts',
      'get /v1/analytics/{projectId}/assistant/corrections',
      'post /v1/analytics/{projectId}/assistant/corrections',
      'get /v1/analytics/{projectId}/assistant/corrections/{correctionId}',
      ...OTLP.map((path) => `post ${path}`),
      'post /mcp',
      'get /livez',
      'get /readyz',
    ]);
    const tags = (at(openApi.document, 'tags') as unknown[]).map((tag) => at(tag, 'name'));
    for (const [, path, operation] of operations) {
      for (const member of ['operationId', 'summary', 'description']) {
        expect(at(operation, member), `${member} of ${path}`).toMatch(/\w/);
      }
      expect(tags, path).toEqual(expect.arrayContaining(at(operation, 'tags') as unknown[]));
      expect(at(operation, 'tags'), path).toHaveLength(1);
    }
    const ids = operations.map(([, , operation]) => at(operation, 'operationId'));
    expect(new Set(ids).size).toBe(ids.length);
  });

  test('gives all errors the same schema, and all responses their media types', async () => {
    const { openApi } = service();
    for (const [method, path, operation] of listOperations(openApi.document)) {
      const responses = entriesOf(at(operation, 'responses')).filter(([status]) => status !== '202');
      expect(responses.map(([status]) => status)).toEqual(expect.arrayContaining(['200', '500', '503']));
      for (const [status, response] of responses) {
        const content = entriesOf(at(response, 'content'));
        expect(
          content.map(([type]) => type),
          `${method} ${path} ${status}`,
        ).toEqual(status === '200' || OTLP.includes(path) ? typesOf(method, path) : ['application/json']);
        // `/mcp` has errors of its protocol, too.
        if (status < '400' || path === '/mcp') continue;
        const $ref = '#/components/schemas/Error';
        expect(at(response, 'content', 'application/json', 'schema'), `${path} ${status}`).toEqual({ $ref });
      }
    }
  });

  test('gives generators of clients a type for everything, and a name for each body and answer', async () => {
    const { openApi } = service();
    for (const [where, schema] of schemasIn(openApi.document))
      expect(Object.keys(schema), where).toEqual(
        expect.arrayContaining([expect.stringMatching(/^(type|\$ref|anyOf)$/)]),
      );
    for (const [method, path, operation] of listOperations(openApi.document)) {
      const body = at(operation, 'requestBody', 'content', 'application/json', 'schema');
      if (body !== undefined && !OTLP.includes(path))
        expect(
          entriesOf(body).map(([name]) => name),
          path,
        ).toEqual(['$ref']);
      const answers = entriesOf(at(operation, 'responses', '200', 'content'));
      const json = answers.find(([type]) => type === 'application/json')?.[1];
      if (json !== undefined)
        expect(
          entriesOf(at(json, 'schema')).map(([name]) => name),
          `${method} ${path}`,
        ).toEqual(['$ref']);
    }
    expect(at(openApi.document, 'paths', '/mcp', 'post', 'responses', '202', 'content')).toBeUndefined();
  });

  test('has the schemas of errors and counts that the contract (part 1) requires', async () => {
    const { openApi } = service();
    const error = ['components', 'schemas', 'Error'];
    expect(at(openApi.document, ...error, 'required')).toEqual(['error']);
    openApi.requireValid({ error: 'x' }, ...error);
    openApi.requireValid({ error: 'x', details: [] }, ...error);
    openApi.requireValid({ error: 'x', details: [{ message: 'y' }] }, ...error);
    const validError = openApi.validator(error);
    for (const wrong of [{}, { error: 1 }, { error: 'x', details: {} }, { error: 'x', details: [{}] }]) {
      expect(validError(wrong), JSON.stringify(wrong)).toBe(false);
    }
    const stats = ['components', 'schemas', 'CallerStats'];
    const names = [...CALLER_TYPES, 'total'];
    expect(at(openApi.document, ...stats, 'required')).toEqual(names);
    // `previous` is only in responses to requests with `compare`.
    expect(entriesOf(at(openApi.document, ...stats, 'properties')).map(([name]) => name)).toEqual([
      ...names,
      'previous',
    ]);
    const counts = Object.fromEntries(names.map((name) => [name, 0]));
    openApi.requireValid(counts, ...stats);
    for (const name of names) {
      for (const wrong of [undefined, '0', -1, 0.5, null]) {
        expect(openApi.validator(stats)(JSON.parse(JSON.stringify({ ...counts, [name]: wrong })))).toBe(
          false,
        );
      }
    }
  });

  test('has the operation that the contract (part 1) requires', async () => {
    const { openApi } = service();
    const operation = at(openApi.document, 'paths', STATS.replace('docs', '{projectId}'), 'get');
    expect(at(openApi.document, 'info', 'version')).toBe('1.0.0');
    expect(at(operation, 'tags')).toEqual(['Analytics']);
    const parameters = (at(operation, 'parameters') as unknown[])
      .map((parameter) => ['name', 'in', 'required'].map((member) => at(parameter, member)))
      .sort();
    expect(parameters).toEqual([
      ...['asOf', 'caller', 'compare'].map((name) => [name, 'query', false]),
      ['dateFrom', 'query', false],
      ['dateTo', 'query', false],
      ['period', 'query', false],
      ['projectId', 'path', true],
      ['timeZone', 'query', false],
      ['weekStart', 'query', false],
    ]);
    expect(at(operation, 'requestBody')).toBeUndefined();
    expect(at(operation, 'responses', '200', 'content', 'application/json', 'schema')).toEqual({
      $ref: '#/components/schemas/CallerStats',
    });
    const documented = entriesOf(at(operation, 'responses')).map(([status]) => status);
    expect(documented).toEqual(expect.arrayContaining(['200', '400', '401', '404', '500']));
    const scheme = Object.keys((at(operation, 'security') as object[])[0] ?? {})[0] ?? '';
    const { type, scheme: name } = at(openApi.document, 'components', 'securitySchemes', scheme) as Record<
      string,
      unknown
    >;
    expect([type, name]).toEqual(['http', 'bearer']);
  });
});

const valid = fc
  .date({ min: new Date('0001-01-01T00:00:00Z'), max: new Date(startMs), noInvalidDate: true })
  .map((date) => date.toISOString());
const text = fc.string({ unit: 'binary', maxLength: 140 });
/** Most have the form of a date or date-time; many of them do not exist. */
const time = fc.oneof(valid, fc.stringMatching(new RegExp(BOUND_PATTERN)), text);
const caller = fc.oneof(
  fc.constantFrom('web', 'api', 'slack'),
  fc.stringMatching(/^[a-z0-9._-]{1,66}$/),
  text,
);
const query = fc.oneof(
  fc.record({ id: text, caller, occurredAt: time }, { requiredKeys: ['id', 'caller'] }),
  fc.record({
    id: fc
      .tuple(fc.constantFrom('x', '😀', '\u0301'), fc.integer({ min: 126, max: 130 }))
      .map(([character, count]) => character.repeat(count)),
    caller,
  }),
  fc.record(
    { id: text, caller, occurredAt: fc.oneof(time, fc.jsonValue()), occuredAt: time },
    { requiredKeys: [] },
  ),
  fc.record({ id: fc.jsonValue(), caller: fc.jsonValue(), occurredAt: valid }, { requiredKeys: ['id'] }),
  // Only the program knows the days of a month.
  fc.record({
    id: fc.stringMatching(/^[a-z]{1,9}$/),
    caller: fc.constantFrom('web', 'api', 'slack'),
    occurredAt: fc.constantFrom('2023-02-29T00:00:00Z', '2025-04-31T12:00:00Z', '1900-02-29T00:00:00Z'),
  }),
  fc.jsonValue(),
);

describe('the OpenAPI document allows everything that the program accepts:', () => {
  test('queries', async () => {
    const { openApi } = await startService();
    const validate = openApi.validator(['components', 'schemas', 'Query']);
    const seen = { accepted: 0, rejectedByBoth: 0, rejectedByProgram: 0 };
    fc.assert(
      fc.property(query, (input) => {
        const accepted = parseQuery(input, startMs).ok;
        const inDocument = validate(input);
        seen[accepted ? 'accepted' : inDocument ? 'rejectedByProgram' : 'rejectedByBoth']++;
        return inDocument || !accepted;
      }),
      runs,
    );
    expect(Math.min(...Object.values(seen)), `every kind occurred: ${JSON.stringify(seen)}`).toBeGreaterThan(
      0,
    );
  });

  // The unit tests of date-times compare the pattern with what is accepted.
  test.each(['dateFrom', 'dateTo'])('%s', async (name) => {
    const { openApi } = await startService();
    const operation = at(openApi.document, 'paths', STATS.replace('docs', '{projectId}'), 'get');
    const parameter = (at(operation, 'parameters') as unknown[]).find((one) => at(one, 'name') === name);
    expect(at(parameter, 'schema', 'pattern')).toBe(BOUND_PATTERN);
  });
});
