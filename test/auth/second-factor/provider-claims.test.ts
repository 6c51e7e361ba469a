import { expect, test } from 'vitest';
import { provesSecondFactor } from '../../../src/auth/second-factor/provider-claims.js';

const multiFactor = 'http://schemas.openid.net/pape/policies/2007/06/multi-factor';

test.each<[string, unknown, boolean]>([
  ['one factor', { amr: ['pwd'] }, false],
  ['two factors of one kind', { amr: ['pwd', 'pin'] }, false],
  ['unknown methods', { amr: ['x', 'y'] }, false],
  ['a weak context', { amr: ['pwd'], acr: '0' }, false],
  ['a context that is not text', { amr: ['pwd'], acr: [multiFactor] }, false],
  ['a context without assurance alone', { acr: '0' }, false],
  ['a level that is a number', { acr: 0 }, false],
  ['contexts in a list', { acr: ['0'] }, false],
  ['a method as text', { amr: 'pwd' }, false],
  ['several factors as text', { amr: 'mfa' }, false],
  ['methods as an object', { amr: { mfa: true } }, false],
  ['methods as a truth', { amr: true }, false],
  ['methods that are names of every object', { amr: ['constructor', 'toString'] }, false],
  ['methods of other types', { amr: [['pwd'], { otp: 1 }, null] }, false],
  ['two kinds, in a context without assurance', { amr: ['pwd', 'otp'], acr: '0' }, false],
  ['no methods', { amr: [] }, true],
  ['null', { amr: null, acr: null }, true],
  ['a context of its own', { acr: '1' }, true],
  ['two kinds', { amr: ['pwd', 'otp'] }, true],
  ['several factors', { amr: ['mfa'] }, true],
  ['a context for several factors', { amr: ['pwd'], acr: multiFactor }, true],
  ['a context against phishing', { amr: ['pwd'], acr: 'phr' }, true],
  ['nothing', {}, true],
  ['no claims', undefined, true],
])('a provider that says %s', (_what, claims, expected) => {
  expect(provesSecondFactor(claims)).toBe(expected);
});
