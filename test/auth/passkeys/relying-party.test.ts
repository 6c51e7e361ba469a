import { expect, test } from 'vitest';
import { findRelyingParty } from '../../../src/auth/passkeys/relying-party.js';

test.each([
  [undefined, 'http://127.0.0.1:4000', { problem: 'no_public_url' }],
  [undefined, 'https://counts.example.org', { problem: 'no_public_url' }],
  [undefined, 'http://localhost.example.org', { problem: 'no_public_url' }],
  [undefined, 'not a URL', { problem: 'no_public_url' }],
  ['http://counts.example.org', 'http://counts.example.org', { problem: 'insecure' }],
  ['https://192.0.2.1', 'https://192.0.2.1', { problem: 'insecure' }],
  ['https://[2001:db8::1]', 'https://[2001:db8::1]', { problem: 'insecure' }],
  [
    'https://counts.example.org',
    'http://localhost',
    { id: 'counts.example.org', origin: 'https://counts.example.org' },
  ],
  ['https://a.example.org:8443', '', { id: 'a.example.org', origin: 'https://a.example.org:8443' }],
  ['http://localhost:4000', '', { id: 'localhost', origin: 'http://localhost:4000' }],
  [undefined, 'http://localhost:80', { id: 'localhost', origin: 'http://localhost' }],
  [
    undefined,
    'http://stats.localhost:4000',
    { id: 'stats.localhost', origin: 'http://stats.localhost:4000' },
  ],
])('passkeys with the public URL %s, for a page of %s: %o', (publicUrl, origin, expected) => {
  expect(findRelyingParty(publicUrl, origin)).toEqual(expected);
});
