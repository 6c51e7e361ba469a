import { describe, expect, test } from 'vitest';
import { KEY_TYPES, SCOPES } from '../../../src/domain/keys/api-key.js';
import { parseExpiry } from '../../../src/domain/keys/key-lifetime.js';
import { lastOwnerError, ROLES, roleAllows } from '../../../src/domain/people/member.js';
import { generateId, isName, isProjectId } from '../../../src/domain/projects/project.js';
import { callerType, isCallerName } from '../../../src/domain/queries/caller.js';
import { decodeUtf8, isBlank, nonBlankLines, parseJson } from '../../../src/domain/queries/lines.js';
import { suggestNearMiss, unknownNameMessage } from '../../../src/domain/suggest.js';
import { dayMs } from '../../../src/domain/time/duration.js';

test.each([
  ['web', 'web'],
  ['api', 'api'],
  ['slack', 'other'],
  ['web2', 'other'],
  ['apis', 'other'],
  ['other', 'other'],
])('the caller %s is of type %s', (caller, type) => {
  expect(isCallerName(caller)).toBe(true);
  expect(callerType(caller)).toBe(type);
});

describe('an expiry', () => {
  const nowMs = Date.parse('2026-06-15T12:00:00Z');

  test.each(['90days', '', '90', 'd', '90 d', '-1d', '1.5d', 'soon', '999999d'])('%j is refused', (text) => {
    expect(parseExpiry(text, nowMs)).toEqual({
      ok: false,
      problems: [expect.stringMatching(/is not a number of days/)],
    });
  });

  test.each([
    ['0d', /not in the future/],
    ['2026-06-15', /not in the future/],
    ['2026-06-15T12:00:00Z', /not in the future/],
    ['3651d', /more than 3650 days away/],
    ['2099-01-01', /more than 3650 days away/],
  ])('%j is refused: %s', (text, problem) => {
    expect(parseExpiry(text, nowMs)).toEqual({ ok: false, problems: [expect.stringMatching(problem)] });
  });

  test.each([
    ['never', null],
    ['90d', nowMs + 90 * dayMs],
    ['3650d', nowMs + 3650 * dayMs],
    ['2026-12-31', Date.parse('2026-12-31')],
    ['2026-06-15T12:00:00.001Z', nowMs + 1],
  ])('%j is %d', (text, time) => {
    expect(parseExpiry(text, nowMs)).toEqual({ ok: true, value: time });
  });
});

test.each([
  ['datefrom', 'did you mean dateFrom?'],
  ['date_from', 'did you mean dateFrom?'],
  ['DATETO', 'did you mean dateTo?'],
  ['limit', 'there are dateFrom, dateTo'],
  ['from', 'did you mean dateFrom?'],
  ['to', 'did you mean dateTo?'],
  ['m', 'there are dateFrom, dateTo'],
  ['dateFromNow', 'did you mean dateFrom?'],
  ['dateFromUntil', 'there are dateFrom, dateTo'],
])('the message about the unknown parameter %s contains: %s', (name, hint) => {
  expect(unknownNameMessage('parameter', name, ['dateFrom', 'dateTo'])).toBe(
    `"${name}": is not a parameter here; ${hint}`,
  );
});

test('the message about an unknown parameter says if there are no parameters', () => {
  expect(unknownNameMessage('parameter', 'x', [])).toBe('"x": is not a parameter here; there is none');
});

test('the message about an unknown name shows the only known one, or suggests it if it is similar', () => {
  expect(unknownNameMessage('column', 'other', ['id'])).toBe('"other": is not a column here; there is id');
  // Two characters may differ, even in a short name.
  expect(unknownNameMessage('field', 'xy', ['id'])).toBe('"xy": is not a field here; did you mean id?');
  expect(unknownNameMessage('field', 'xyz', ['id'])).toBe('"xyz": is not a field here; there is id');
  // Very long names are not compared.
  const long = 'x'.repeat(64);
  expect(unknownNameMessage('field', long, [`x${long}`])).toMatch(/did you mean/);
  expect(unknownNameMessage('field', `x${long}`, [`xx${long}`])).toMatch(/there is/);
});

test.each([
  ['Caller', 'caller'],
  ['callr', 'caller'],
  ['callers', 'caller'],
  ['cler', undefined],
  ['question', undefined],
  ['caller', undefined],
])('the near miss of %j is %j', (name, known) => {
  expect(suggestNearMiss(name, ['id', 'caller'])).toBe(known);
});

test('near misses are found in names of up to 64 characters', () => {
  const long = 'x'.repeat(64);
  expect(suggestNearMiss(long, [`x${long}`])).toBe(`x${long}`);
  expect(suggestNearMiss(`x${long}`, [`xx${long}`])).toBeUndefined();
});

test('each role has the rights of the roles after it, and no others', () => {
  expect(ROLES.map((role) => ROLES.filter((needed) => roleAllows(role, needed)))).toEqual(
    ROLES.map((_, at) => ROLES.slice(at)),
  );
  expect(lastOwnerError('a@b.io')).toMatchObject({
    code: 'invalid',
    message: expect.stringMatching(/^a@b\.io /),
  });
});

test('names in databases and responses do not change', () => {
  expect({ KEY_TYPES, ROLES, SCOPES }).toEqual({
    KEY_TYPES: ['admin', 'recording', 'reading'],
    ROLES: ['owner', 'editor', 'viewer'],
    SCOPES: ['read', 'write'],
  });
});

describe('non-blank lines', () => {
  const readLines = (text: string) =>
    [...nonBlankLines(Buffer.from(text))].map((line) => Buffer.from(line).toString());

  test.each([
    ['', []],
    ['a', ['a']],
    ['a\n', ['a']],
    ['a\r\nb\r\n', ['a', 'b']],
    ['abc\r\nd', ['abc', 'd']],
    ['a\n\nb', ['a', 'b']],
    ['\r\n \t\n  a \n\n', ['a ']],
    ['a\u2028b\rc', ['a\u2028b\rc']],
  ])('of %j are %j', (text, lines) => {
    expect(readLines(text)).toEqual(lines);
  });

  test('have more than white space', () => {
    expect(isBlank(Buffer.from(' \t\r'))).toBe(true);
    expect(isBlank(Buffer.from(''))).toBe(true);
    expect(isBlank(Buffer.from(' x '))).toBe(false);
  });

  test('must be UTF-8; a byte order mark is dropped only before JSON', () => {
    expect(decodeUtf8(Uint8Array.of(0x61, 0xff))).toEqual({ ok: false, problems: ['is not valid UTF-8'] });
    expect(parseJson(Uint8Array.of(0xff))).toEqual({ ok: false, problems: ['is not valid UTF-8'] });
    expect(decodeUtf8(Uint8Array.of(0xef, 0xbb, 0xbf, 0x61))).toEqual({ ok: true, value: '\ufeffa' });
    expect(parseJson(Uint8Array.of(0xef, 0xbb, 0xbf, 0x31))).toEqual({ ok: true, value: 1 });
  });

  test('that are not JSON are refused with an excerpt', () => {
    expect(parseJson(Buffer.from('{"a"'))).toEqual({ ok: false, problems: ['is not JSON: "{\\"a\\""'] });
    expect(parseJson(Buffer.from('{"a":1}'))).toEqual({ ok: true, value: { a: 1 } });
  });
});

test.each(['', 'a b', '-a', '_a', 'a/b', 'ä', 'a'.repeat(65), 'a\n'])('%j is not a project id', (id) => {
  expect(isProjectId(id)).toBe(false);
});

test.each(['a', 'A-1_b', 'a'.repeat(64)])('%j is a project id', (id) => {
  expect(isProjectId(id)).toBe(true);
});

test('a new id is a project id of 80 bits', () => {
  expect(generateId((max) => max - 1)).toBe('z'.repeat(16));
  expect(isProjectId(generateId(() => 0))).toBe(true);
});

test.each(['', '  ', 'a\nb', 'x'.repeat(101), '\ud800', '\u200b', ' \u00ad\u2060 ', '\u3164', '\u2800'])(
  '%j is not a name',
  (name) => {
    expect(isName(name)).toBe(false);
  },
);

test.each([
  '\u061c',
  '\u200e',
  '\u200f',
  '\u202a',
  '\u202e',
  '\u2066',
  '\u2069',
  '\u2028',
  '\u2029',
  '\u0085',
  '\u009b',
  '\u007f',
])('a name with %j, which changes the text around it, is none', (character) => {
  expect(isName(`Docs${character}gpj`)).toBe(false);
});

test.each(['😀'.repeat(100), 'Docs', 'Доки 📚', 'a\u200bb', '👩\u200d💻', 'x'.repeat(100)])(
  '%j is a name',
  (name) => {
    expect(isName(name)).toBe(true);
  },
);
