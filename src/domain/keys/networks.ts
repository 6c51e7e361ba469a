/** IPv4 and IPv6 addresses and networks (CIDR, RFC 4632 and RFC 4291, section 2.3): allowlists of keys, trusted proxies. */
import { BlockList, isIP } from 'node:net';
import { collectProblems, failure, quote, type Result, success } from '../result.js';

/** The widest networks allowed. A wider one, in a list whose purpose is to keep others out, is a mistake. */
const prefixMin = { 4: 8, 6: 16 } as const;
const prefixMax = { 4: 32, 6: 128 } as const;

/**
 * Parses an address or network (`192.0.2.1`, `192.0.2.0/24`, `2001:db8::/32`) and returns it in lower case. Refuses host
 * names, zones, bits after the prefix, and networks wider than /8 (IPv4) or /16 (IPv6).
 */
export function parseNetwork(text: string): Result<string> {
  const [address = '', prefix, ...more] = text.split('/');
  const family = isIP(address);
  if ((family !== 4 && family !== 6) || more.length > 0 || address.includes('%')) {
    return failure(
      `${quote(text)} is not an address or network such as 192.0.2.1, 192.0.2.0/24 or 2001:db8::/32`,
    );
  }
  if (/^::ffff:.*\./i.test(address)) return failure(`${quote(text)} is an IPv4 address; write it as one`);
  if (prefix === undefined) return success(address.toLowerCase());
  const length = /^(0|[1-9]\d{0,2})$/.test(prefix) ? Number(prefix) : Number.NaN;
  if (!(length <= prefixMax[family])) {
    return failure(`${quote(text)} has a prefix that is not 0 to ${prefixMax[family]}`);
  }
  if (length < prefixMin[family]) {
    return failure(`${quote(text)} is wider than /${prefixMin[family]}; list the networks that you mean`);
  }
  const bits = toBits(family === 4 ? `::ffff:${address}` : address);
  if (bits.slice(bits.length - prefixMax[family] + length).includes('1')) {
    return failure(`${quote(text)} has bits set after its prefix; write the network's first address`);
  }
  return success(text.toLowerCase());
}

/** Parses several, reports every problem, and returns each network once. */
export function parseNetworks(list: readonly string[]): Result<readonly string[]> {
  const results = list.map((text) => parseNetwork(text.trim()));
  const problems = collectProblems(...results);
  return problems.length > 0
    ? failure(...problems)
    : success([...new Set(results.flatMap((one) => (one.ok ? [one.value] : [])))]);
}

/**
 * Creates a function that tells whether an address is in one of the networks, which `parseNetworks` returned.
 * `::ffff:192.0.2.1` counts as 192.0.2.1; text that is not an address is in none.
 */
export function createNetworks(list: readonly string[]): (address: string) => boolean {
  const blocks = new BlockList();
  for (const network of list) {
    const [address = '', prefix] = network.split('/');
    const family = isIP(address) === 6 ? 6 : 4;
    blocks.addSubnet(address, prefix === undefined ? prefixMax[family] : Number(prefix), `ipv${family}`);
  }
  return (address) => {
    const family = isIP(address);
    return (family === 4 || family === 6) && blocks.check(address, `ipv${family}`);
  };
}

/** The networks that share a rate limit with an address, as texts. */
export interface SharedNetworks {
  /** What one subscriber has: an IPv4 address, or a /64 of IPv6. */
  readonly narrow: string;
  /** What one site has: a /48 of IPv6. Undefined for IPv4. */
  readonly wide: string | undefined;
}

/**
 * The networks that an address is limited with. Anybody with IPv6 has 2^64 addresses, so a limit of each means nothing. An
 * IPv4 address in IPv6 form is an IPv4 address; text that is not an address has a limit of its own.
 */
export function sharedNetworksOf(address: string): SharedNetworks {
  if (isIP(address) !== 6) return { narrow: address, wide: undefined };
  const bits = toBits(address.split('%')[0] ?? '');
  const mapped = /^0{80}1{16}(.{8})(.{8})(.{8})(.{8})$/.exec(bits);
  if (mapped !== null) {
    const parts = mapped.slice(1).map((byte) => Number.parseInt(byte, 2));
    return { narrow: parts.join('.'), wide: undefined };
  }
  const toHex = (digit: string) => Number.parseInt(digit, 2).toString(16);
  const prefix = (length: number) => `${bits.slice(0, length).replaceAll(/.{4}/g, toHex)}/${length}`;
  return { narrow: prefix(64), wide: prefix(48) };
}

/** The 128 bits of a valid IPv6 address. The URL parser turns an IPv4 address at its end into groups. */
function toBits(address: string): string {
  const halves = new URL(`http://[${address}]`).hostname.slice(1, -1).split('::');
  const [left = '', right = ''] = halves.map((half) =>
    half.replace(/([0-9a-f]+):?/g, (_, group) => Number.parseInt(group, 16).toString(2).padStart(16, '0')),
  );
  return left.padEnd(prefixMax[6] - right.length, '0') + right;
}

/** Whether the host of a URL is the machine itself. */
export function isLoopbackHost(hostname: string): boolean {
  return /^(localhost|127(\.\d+){3}|\[::1\])$/.test(hostname);
}
