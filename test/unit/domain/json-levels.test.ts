import fc from 'fast-check';
import { describe, expect, test } from 'vitest';
import { jsonLevelsCountedBytesMin, jsonLevelsMax, jsonPartsMax } from '../../../src/domain/limits.js';
import { parseJson } from '../../../src/domain/queries/lines.js';

/** In an array, and long enough for its levels to be counted. That is by a string, which is passed over at once. */
const padding = '-'.repeat(jsonLevelsCountedBytesMin);
const long = (json: string) => Buffer.from(`["${padding}",${json}]`);
const nested = (levels: number) => '['.repeat(levels) + ']'.repeat(levels);
const tooDeep = { ok: false, problems: [`is nested more than ${jsonLevelsMax} levels deep`] };

describe('too many levels', () => {
  test.each([
    ['of arrays', nested(jsonLevelsMax)],
    ['of objects', '{"a":'.repeat(jsonLevelsMax)],
    ['with white space between', '[ \n'.repeat(jsonLevelsMax)],
    ['behind others that were closed', `[],{},${nested(jsonLevelsMax)}`],
    ['behind a string with marks and backslashes in it', `["\\\\\\"[",${nested(jsonLevelsMax - 1)}]`],
    ['behind a string that ends with a backslash', `"\\\\",${nested(jsonLevelsMax)}`],
    ['deep within a query', `[{"id":${nested(jsonLevelsMax - 2)}}]`],
    ['of ten million', '['.repeat(10_000_000)],
  ])('%s', (_what, json) => {
    expect(parseJson(long(json))).toEqual(tooDeep);
  });

  test('are counted from the length on that makes them dear', () => {
    const ofBytes = (bytes: number) => Buffer.from(nested(jsonLevelsMax + 1).padStart(bytes));
    expect(parseJson(ofBytes(jsonLevelsCountedBytesMin))).toEqual(tooDeep);
    expect(parseJson(ofBytes(jsonLevelsCountedBytesMin - 1))).toMatchObject({ ok: true });
  });
});

describe('too many parts', () => {
  const many = jsonPartsMax / 2 + 1;
  test.each([
    ['objects', `[${'{},'.repeat(many)}0]`],
    ['arrays', `[${'[],'.repeat(many)}0]`],
    ['names', `{${'"a":1,'.repeat(many)}"b":1}`],
    ['values', `[${'0,'.repeat(jsonPartsMax)}0]`],
    ['values that never end', '0,'.repeat(jsonPartsMax + 1)],
  ])('%s', (_what, json) => {
    const problem = `has more than ${jsonPartsMax} brackets, commas and colons; send less at a time`;
    expect(parseJson(long(json))).toEqual({ ok: false, problems: [problem] });
    expect(parseJson(long(json), 10 * jsonPartsMax), 'of those who may send more').not.toMatchObject({
      problems: [expect.stringContaining('send less')],
    });
  });

  test('as many as there may be are not', () => {
    // Two brackets and a comma stand before them.
    const json = `[${'0,'.repeat(jsonPartsMax - 3)}0]`;
    expect(parseJson(long(json))).toMatchObject({ ok: true });
    const text = JSON.stringify([',:[]{}'.repeat(jsonPartsMax)]);
    expect(parseJson(long(text)), 'in a string').toMatchObject({ ok: true });
  });
});

describe('not too many', () => {
  test.each([
    ['as many as there may be', nested(jsonLevelsMax - 1)],
    ['one after the other', `[${'[],{},'.repeat(1000)}[]]`],
    ['in a string', JSON.stringify('['.repeat(1000))],
    ['in a string, behind an escaped mark', JSON.stringify(`a"\\"${'['.repeat(1000)}`)],
    ['in a string that ends with a backslash', JSON.stringify([`${'{'.repeat(1000)}\\`, []])],
  ])('%s', (_what, json) => {
    expect(parseJson(long(json))).toEqual({ ok: true, value: [padding, JSON.parse(json)] });
  });

  test('any value that JSON can write, whatever stands in its strings', () => {
    fc.assert(
      fc.property(fc.jsonValue({ maxDepth: 20 }), (value) => {
        const json = JSON.stringify(value);
        expect(parseJson(long(json))).toEqual({ ok: true, value: [padding, JSON.parse(json)] });
      }),
    );
  });

  test('what is no JSON is told as such', () => {
    expect(parseJson(long('["a'))).toMatchObject({
      ok: false,
      problems: [expect.stringMatching(/^is not JSON/)],
    });
    expect(parseJson(long(']]]'))).toMatchObject({
      ok: false,
      problems: [expect.stringMatching(/^is not JSON/)],
    });
  });
});
