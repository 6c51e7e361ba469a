import { createConfig, lintFromString } from '@redocly/openapi-core';
import fc from 'fast-check';
import { describe, expect, test } from 'vitest';
import { CALLER_TYPES } from '../../src/domain/queries/caller.js';
import { parseQuery } from '../../src/domain/queries/query.js';
import { parseBound, parseTimestamp } from '../../src/domain/time/date-time.js';
import { CALLERS, QUERIES, SERIES, STATS, sharedService, startMs, startService } from '../support/http.js';
import { at, entriesOf } from '../support/openapi.js';

/** Fewer would not meet every kind of input, which the tests require. */
const runs = { numRuns: 1000 };

/** What answers in the encoding of the request. */
const OTLP = ['/v1/traces', '/v1/logs', '/v1/metrics'];

/** The operations of a document: [method, path, operation]. */
function operationsOf(document: unknown): [string, string, unknown][] {
  return entriesOf(at(document, 'paths')).flatMap(([path, item]) =>
    entriesOf(item).map(([method, operation]): [string, string, unknown] => [method, path, operation]),
  );
}

describe('the document', () => {
  const service = sharedService();
  test('is valid OpenAPI 3.1, without a warning', async () => {
    const { send } = service();
    const source = (await send({ path: '/openapi.json', key: null })).text;
    expect(at(JSON.parse(source), 'openapi')).toMatch(/^3\.1\./);
    const config = await createConfig({ extends: ['recommended'] });
    const problems = await lintFromString({ source, absoluteRef: 'openapi.json', config });
    expect(problems.map(({ severity, ruleId, message }) => `${severity} ${ruleId}: ${message}`)).toEqual([]);
  });

  test('has every operation of the service, and says in words what each is for', async () => {
    const { openApi } = service();
    const operations = operationsOf(openApi.document);
    expect(operations.map(([method, path]) => `${method} ${path}`)).toEqual([
      `get ${STATS.replace('docs', '{projectId}')}`,
      `get ${SERIES.replace('docs', '{projectId}')}`,
      `get ${CALLERS.replace('docs', '{projectId}')}`,
      `post ${QUERIES.replace('docs', '{projectId}')}`,
      ...OTLP.map((path) => `post ${path}`),
      'post /v1/leaked-keys',
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

  test('says of every error that it has the one shape, and of every response that it is JSON, or CSV or protobuf as well', async () => {
    const { openApi } = service();
    const csv = [SERIES, CALLERS].map((path) => path.replace('docs', '{projectId}'));
    const others = (path: string) =>
      OTLP.includes(path) ? ['application/x-protobuf'] : csv.includes(path) ? ['text/csv'] : [];
    for (const [method, path, operation] of operationsOf(openApi.document)) {
      const responses = entriesOf(at(operation, 'responses'));
      expect(responses.map(([status]) => status)).toEqual(expect.arrayContaining(['200', '500', '503']));
      for (const [status, response] of responses) {
        const content = entriesOf(at(response, 'content'));
        expect(
          content.map(([type]) => type),
          `${method} ${path} ${status}`,
        ).toEqual(['application/json', ...(status === '200' ? others(path) : [])]);
        if (status < '400') continue;
        const $ref = '#/components/schemas/Error';
        expect(at(response, 'content', 'application/json', 'schema'), `${path} ${status}`).toEqual({ $ref });
      }
    }
  });

  test('has the error and the counts of the contract, part 1', async () => {
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
    expect(entriesOf(at(openApi.document, ...stats, 'properties')).map(([name]) => name)).toEqual(names);
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

  test('has the operation of the contract, part 1', async () => {
    const { openApi } = service();
    const operation = at(openApi.document, 'paths', STATS.replace('docs', '{projectId}'), 'get');
    expect(at(openApi.document, 'info', 'version')).toBe('1.0.0');
    expect(at(operation, 'tags')).toEqual(['Analytics']);
    const parameters = (at(operation, 'parameters') as unknown[])
      .map((parameter) => ['name', 'in', 'required'].map((member) => at(parameter, member)))
      .sort();
    expect(parameters).toEqual([
      ['dateFrom', 'query', false],
      ['dateTo', 'query', false],
      ['projectId', 'path', true],
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

const digits = (count: number) => fc.stringMatching(new RegExp(`^\\d{${count}}$`));
const between = (min: number, max: number) =>
  fc.integer({ min, max }).map((number) => String(number).padStart(2, '0'));

/** Date-times by their parts: most can be, many almost. */
const almostTime = fc
  .tuple(
    fc.oneof(digits(4), fc.constantFrom('2026', '0000', '9999', '+02026')),
    between(0, 13),
    between(0, 32),
    fc.constantFrom('T', 'T', 'T', 't', ' ', ''),
    between(0, 24),
    between(0, 60),
    fc.oneof(
      between(0, 61).map((second) => `:${second}`),
      fc.constant(''),
    ),
    fc.oneof(
      fc.constantFrom('', '', '.', ',5'),
      fc.nat().map((fraction) => `.${fraction}`),
    ),
    fc.oneof(
      fc.constantFrom('Z', 'Z', 'z', '', '+0530', '-00:00', '+24:00', ' 05:30', 'Z\n'),
      fc
        .tuple(fc.constantFrom('+', '-'), between(0, 25), between(0, 61))
        .map(([sign, h, m]) => `${sign}${h}:${m}`),
    ),
  )
  .map(([year, month, day, t, hour, minute, second, fraction, offset]) =>
    t === ''
      ? `${year}-${month}-${day}`
      : `${year}-${month}-${day}${t}${hour}:${minute}${second}${fraction}${offset}`,
  );
const valid = fc
  .date({ min: new Date('0001-01-01T00:00:00Z'), max: new Date(startMs), noInvalidDate: true })
  .map((date) => date.toISOString());
const text = fc.string({ unit: 'binary', maxLength: 140 });
const time = fc.oneof(valid, almostTime, text);
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
  fc.jsonValue(),
);

describe('what the program accepts, the document accepts: what the document refuses, the program refuses', () => {
  test('queries', async () => {
    const { openApi } = await startService();
    const validate = openApi.validator(['components', 'schemas', 'Query']);
    const seen = { accepted: 0, refusedByBoth: 0, refusedInWordsOnly: 0 };
    fc.assert(
      fc.property(query, (input) => {
        const accepted = parseQuery(input, startMs).ok;
        const inDocument = validate(input);
        seen[accepted ? 'accepted' : inDocument ? 'refusedInWordsOnly' : 'refusedByBoth']++;
        return inDocument || !accepted;
      }),
      runs,
    );
    expect(Math.min(...Object.values(seen)), `each kind was met: ${JSON.stringify(seen)}`).toBeGreaterThan(0);
  });

  test.each(['dateFrom', 'dateTo'])('bounds: %s', async (name) => {
    const { openApi } = await startService();
    const operation = at(openApi.document, 'paths', STATS.replace('docs', '{projectId}'), 'get');
    const parameter = (at(operation, 'parameters') as unknown[]).find((one) => at(one, 'name') === name);
    // JSON Schema's patterns are Unicode-aware.
    const pattern = new RegExp(String(at(parameter, 'schema', 'pattern')), 'u');
    const seen = { accepted: 0, refusedByBoth: 0, refusedInWordsOnly: 0 };
    fc.assert(
      fc.property(time, (bound) => {
        const accepted = parseBound(bound).ok;
        const inDocument = pattern.test(bound);
        seen[accepted ? 'accepted' : inDocument ? 'refusedInWordsOnly' : 'refusedByBoth']++;
        // Every recorded time is a bound too, and the same time.
        const recorded = parseTimestamp(bound);
        if (recorded.ok) expect(parseBound(bound)).toEqual(recorded);
        return inDocument || !accepted;
      }),
      runs,
    );
    expect(Math.min(...Object.values(seen)), `each kind was met: ${JSON.stringify(seen)}`).toBeGreaterThan(0);
  });
});
