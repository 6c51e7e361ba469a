import fc from 'fast-check';
import { describe, expect, test } from 'vitest';
import { jsonLevelsMax, jsonPartsMax } from '../../../src/domain/limits.js';
import { parseJson } from '../../../src/domain/queries/lines.js';

/** Puts the JSON behind another value. */
const behind = (json: string) => Buffer.from(`["-",${json}]`);
const nested = (levels: number) => '['.repeat(levels) + ']'.repeat(levels);
const tooDeep = { ok: false, problems: [`is nested more than ${jsonLevelsMax} levels deep`] };

describe('JSON is refused with too many levels', () => {
  test.each([
    ['of arrays', nested(jsonLevelsMax)],
    ['of objects', '{"a":'.repeat(jsonLevelsMax)],
    ['with white space between', '[ \n'.repeat(jsonLevelsMax)],
    ['after closed ones', `[],{},${nested(jsonLevelsMax)}`],
    ['after a string with quotes and backslashes', `["\\\\\\"[",${nested(jsonLevelsMax - 1)}]`],
    ['after a string that ends with a backslash', `"\\\\",${nested(jsonLevelsMax)}`],
    ['inside a query', `[{"id":${nested(jsonLevelsMax - 2)}}]`],
    ['ten million of them', '['.repeat(10_000_000)],
  ])('%s', (_what, json) => {
    expect(parseJson(behind(json))).toEqual(tooDeep);
  });
});

describe('JSON is refused with too many', () => {
  const many = jsonPartsMax / 2 + 1;
  test.each([
    ['objects', `[${'{},'.repeat(many)}0]`],
    ['arrays', `[${'[],'.repeat(many)}0]`],
    ['names', `{${'"a":1,'.repeat(many)}"b":1}`],
    ['values', `[${'0,'.repeat(jsonPartsMax)}0]`],
    ['values, if it is cut', '0,'.repeat(jsonPartsMax + 1)],
  ])('%s', (_what, json) => {
    const problem = `has more than ${jsonPartsMax} brackets, commas and colons; send less at a time`;
    expect(parseJson(behind(json))).toEqual({ ok: false, problems: [problem] });
    expect(parseJson(behind(json), { partsMax: 10 * jsonPartsMax }), 'with a higher limit').not.toMatchObject(
      {
        problems: [expect.stringContaining('send less')],
      },
    );
  });

  test('parts, but not with the largest allowed number', () => {
    // Two brackets and a comma come before them.
    const json = `[${'0,'.repeat(jsonPartsMax - 3)}0]`;
    expect(parseJson(behind(json))).toMatchObject({ ok: true });
    const text = JSON.stringify([',:[]{}'.repeat(jsonPartsMax)]);
    expect(parseJson(behind(text)), 'in a string').toMatchObject({ ok: true });
  });
});

describe('JSON is refused with a value of too many parts', () => {
  const bounds = { itemPartsMax: 7 };
  const tooMany = { ok: false, problems: ['has a value with more than 7 brackets, commas and colons'] };
  const query = '{"a":1,"b":2,"c":3}';
  test.each([
    ['alone', '{"a":1,"b":2,"c":3,"d":4}'],
    ['as an element', `[${query}, {"a":1,"b":2,"c":[4,5]},${query}]`],
    ['of arrays', `[${query},[[],[],[],[],0]]`],
    ['that is an object with an array', '{"a":[0,0,0,0,0,0]}'],
    ['behind an array', `[] {"a":1,"b":2,"c":3,"d":4}`],
  ])('%s', (_what, json) => {
    expect(parseJson(Buffer.from(json), bounds)).toEqual(tooMany);
  });

  test('but not with as many as are allowed', () => {
    for (const json of [query, `[${Array.from({ length: 100 }, () => query).join()}]`])
      expect(parseJson(Buffer.from(json), bounds)).toEqual({ ok: true, value: JSON.parse(json) });
  });
});

describe('JSON is accepted with', () => {
  test.each([
    ['the largest number of levels', nested(jsonLevelsMax - 1)],
    ['many arrays and objects side by side', `[${'[],{},'.repeat(1000)}[]]`],
    ['brackets in a string', JSON.stringify('['.repeat(1000))],
    ['brackets after an escaped quote', JSON.stringify(`a"\\"${'['.repeat(1000)}`)],
    ['a string that ends with a backslash', JSON.stringify([`${'{'.repeat(1000)}\\`, []])],
  ])('%s', (_what, json) => {
    expect(parseJson(behind(json))).toEqual({ ok: true, value: ['-', JSON.parse(json)] });
  });

  test('any value', () => {
    fc.assert(
      fc.property(fc.jsonValue({ maxDepth: 20 }), (value) => {
        const json = JSON.stringify(value);
        expect(parseJson(behind(json))).toEqual({ ok: true, value: ['-', JSON.parse(json)] });
      }),
    );
  });
});

test.each(['["a', ']]]'])('%s is refused as invalid JSON', (json) => {
  expect(parseJson(behind(json))).toMatchObject({
    ok: false,
    problems: [expect.stringMatching(/^is not JSON/)],
  });
});
