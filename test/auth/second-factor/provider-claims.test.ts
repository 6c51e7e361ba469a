import { expect, test } from 'vitest';
import { provesSecondFactor } from '../../../src/auth/second-factor/provider-claims.js';

const multiFactor = 'http://schemas.openid.net/pape/policies/2007/06/multi-factor';

test.each<[string, unknown, boolean]>([
  ['one factor', { amr: ['pwd'] }, false],
  ['two factors of one kind', { amr: ['pwd', 'pin'] }, false],
  ['unknown methods', { amr: ['x', 'y'] }, false],
  ['a weak context', { amr: ['pwd'], acr: '0' }, false],
  ['a context that is no text', { amr: ['pwd'], acr: [multiFactor] }, false],
  ['two kinds', { amr: ['pwd', 'otp'] }, true],
  ['several factors', { amr: ['mfa'] }, true],
  ['a context for several factors', { amr: ['pwd'], acr: multiFactor }, true],
  ['a context against phishing', { amr: ['pwd'], acr: 'phr' }, true],
  ['nothing', {}, true],
  ['no claims', undefined, true],
])('a provider that says %s', (_what, claims, expected) => {
  expect(provesSecondFactor(claims)).toBe(expected);
});
