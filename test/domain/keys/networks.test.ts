import fc from 'fast-check';
import { describe, expect, test } from 'vitest';
import {
  createNetworks,
  parseNetwork,
  parseNetworks,
  sharedNetworksOf,
} from '../../../src/domain/keys/networks.js';
import { words } from '../../support/words.js';

describe('a network', () => {
  test.each([
    ...words(`
    localhost 192.0.2 192.0.2.256 192.0.2.1/33 192.0.2.0/-1 192.0.2.0/024 192.0.2.0/ 192.0.2.0/24/24
    192.0.2.1/24 0.0.0.0/0 0.0.0.0/1 128.0.0.0/1 10.0.0.0/7 ::/0 2000::/3 2001::/15 2001:db8::1/64
    2001:db8::/28 64:ff9b::192.168.100.128/120 64:ff9b::192.168.101.0/118 64:ff9b::192.169.0.0/110
    fe80::1%eth0 ::ffff:192.0.2.1 ::FFFF:192.0.2.0/120 0x7f.0.0.1 2001:db8::/129 1.2.3.4/1e1 * 010.0.0.1
  `),
    '',
    ' ',
    '192.0.2.1 ',
  ])('%j is refused', (text) => {
    expect(parseNetwork(text)).toMatchObject({ ok: false });
  });

  test.each<readonly [text: string, stored: string]>([
    ['192.0.2.1', '192.0.2.1'],
    ['192.0.2.0/24', '192.0.2.0/24'],
    ['10.0.0.0/8', '10.0.0.0/8'],
    ['192.0.2.1/32', '192.0.2.1/32'],
    ['2001:DB8::/32', '2001:db8::/32'],
    ['2001:db8::1', '2001:db8::1'],
    ['2001::/16', '2001::/16'],
    ['64:ff9b::192.0.2.0/120', '64:ff9b::192.0.2.0/120'],
    ['::1', '::1'],
    ...words(
      '64:ff9b::192.168.100.128/121 1:2:3:4:5:6:7:8/128 1:2:3:4:5:6:192.0.2.1/128 64::ffff:192.0.2.1',
    ).map((text) => [text, text] as const),
  ])('%j is stored as %j', (text, stored) => {
    expect(parseNetwork(text)).toEqual({ ok: true, value: stored });
  });
});

describe('a list of networks', () => {
  const has = (address: string) =>
    createNetworks(['192.0.2.0/24', '198.51.100.7', '2001:db8::/32', '::1'])(address);

  test('contains the addresses in its networks, and nothing else', () => {
    const inside = '192.0.2.0 192.0.2.255 198.51.100.7 2001:db8:ffff::1 ::1 ::ffff:192.0.2.9 2001:DB8::1';
    const outside =
      '192.0.3.0 192.0.1.255 198.51.100.8 2001:db9::1 ::2 ::ffff:192.0.3.9 x localhost 192.0.2.1/24';
    expect([...words(inside), ...words(outside), ''].filter(has)).toEqual(words(inside));
  });

  test('contains nothing if it is empty', () => {
    expect(createNetworks([])('127.0.0.1')).toBe(false);
  });

  test('contains an IPv4 address exactly if the bits of the prefix are equal', () => {
    const number = fc.nat(0xffffffff);
    const dotted = (value: number) => [24, 16, 8, 0].map((shift) => (value >>> shift) & 255).join('.');
    fc.assert(
      fc.property(
        number,
        fc.integer({ min: 8, max: 32 }),
        number,
        fc.nat(32),
        (base, prefix, other, same) => {
          const mask = prefix === 0 ? 0 : (0xffffffff << (32 - prefix)) >>> 0;
          const network = (base & mask) >>> 0;
          // The first bits of the network and the rest of the other address, so that many addresses are close.
          const near = same === 0 ? 0 : (0xffffffff << (32 - same)) >>> 0;
          const address = ((network & near) | (other & ~near)) >>> 0;
          const text = `${dotted(network)}/${prefix}`;
          expect(parseNetwork(text)).toEqual({ ok: true, value: text });
          expect(createNetworks([text])(dotted(address))).toBe((address & mask) >>> 0 === network);
        },
      ),
      { numRuns: 1000 },
    );
  });
});

test('several networks are trimmed, and each is listed once', () => {
  expect(parseNetworks([' 10.0.0.1 ', '10.0.0.1', '::1'])).toEqual({ ok: true, value: ['10.0.0.1', '::1'] });
});

describe('the networks that share a rate limit', () => {
  test.each([
    ['192.0.2.1', '192.0.2.1', undefined],
    ['::ffff:192.0.2.1', '192.0.2.1', undefined],
    ['::FFFF:c000:201', '192.0.2.1', undefined],
    ['2001:db8:1:2:3:4:5:6', '20010db800010002/64', '20010db80001/48'],
    ['2001:DB8:1:2::', '20010db800010002/64', '20010db80001/48'],
    ['fe80::1%eth0', 'fe80000000000000/64', 'fe8000000000/48'],
    ['::1', '0000000000000000/64', '000000000000/48'],
    ['unknown', 'unknown', undefined],
  ])('of %s', (address, narrow, wide) => {
    expect(sharedNetworksOf(address)).toEqual({ narrow, wide });
  });

  test('are the same for two IPv6 addresses exactly if their first 64 or 48 bits are', () => {
    const group = fc.constantFrom('0', '1', 'ffff');
    const address = fc.array(group, { minLength: 8, maxLength: 8 }).filter(([first]) => first !== '0');
    fc.assert(
      fc.property(address, address, (one, other) => {
        const [a, b] = [sharedNetworksOf(one.join(':')), sharedNetworksOf(other.join(':'))];
        expect(a.narrow === b.narrow).toBe(one.slice(0, 4).join() === other.slice(0, 4).join());
        expect(a.wide === b.wide).toBe(one.slice(0, 3).join() === other.slice(0, 3).join());
      }),
      { numRuns: 1000 },
    );
  });
});
