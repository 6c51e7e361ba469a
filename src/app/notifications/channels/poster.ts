/**
 * Posts to addresses that members of an organization have entered, and only to public ones: otherwise they could reach what only
 * the server can, such as services of its network or the metadata of its cloud (server-side request forgery). The address is
 * checked when the connection is made, so that a name cannot resolve to another one afterwards. Redirects are not followed.
 */
import { lookup } from 'node:dns';
import { request as requestHttp } from 'node:http';
import { request as requestHttps } from 'node:https';
import { isIP, type LookupFunction } from 'node:net';
import ipaddr from 'ipaddr.js';
import { CallerStatsError } from '../../../domain/errors.js';
import { createNetworks } from '../../../domain/keys/networks.js';

export interface Post {
  readonly body: string;
  readonly headers: Readonly<Record<string, string>>;
  readonly signal: AbortSignal;
}

export class Poster {
  /** Whether an address may be reached without TLS. */
  readonly allowsHttp: boolean;
  readonly #isListed: (address: string) => boolean;

  /** `networks`: private networks that the operator allows, in the form of `parseNetwork`. */
  constructor(networks: readonly string[]) {
    this.allowsHttp = networks.length > 0;
    this.#isListed = createNetworks(networks);
  }

  /** Resolves if the response has a status of 2xx, whose body is not read. Rejects with the reason otherwise. */
  async post(to: string, { body, headers, signal }: Post): Promise<void> {
    const url = new URL(to);
    const isSecure = url.protocol === 'https:';
    const host = url.hostname.replace(/^\[|\]$/g, '');
    // Node looks up names only, so an address is checked here.
    if (isIP(host) !== 0) this.#requireAllowed([host], isSecure);
    const send = isSecure ? requestHttps : requestHttp;
    const status = await new Promise<number>((resolve, reject) => {
      const request = send(url, {
        method: 'POST',
        // A connection of its own, so that none outlives the check of its address.
        agent: false,
        signal,
        lookup: this.#lookup(isSecure),
        headers: {
          'content-type': 'application/json',
          'content-length': Buffer.byteLength(body),
          'user-agent': 'caller-stats',
          ...headers,
        },
      });
      request.once('response', (response) => {
        response.destroy();
        resolve(response.statusCode ?? 0);
      });
      request.once('error', reject);
      request.end(body);
    });
    if (status >= 300 && status < 400)
      throw refused(`the receiver answered ${status}; redirects are not followed`);
    if (status < 200 || status >= 300) throw refused(`the receiver answered ${status}`);
  }

  /** As Node's own, but fails unless all addresses of the name are allowed. */
  #lookup(isSecure: boolean): LookupFunction {
    return (hostname, options, callback) => {
      lookup(hostname, { ...options, all: true }, (error, addresses) => {
        try {
          if (error !== null) throw error;
          this.#requireAllowed(
            addresses.map(({ address }) => address),
            isSecure,
          );
        } catch (problem) {
          callback(problem as NodeJS.ErrnoException, '', 0);
          return;
        }
        const [first] = addresses;
        if (options.all === true) callback(null, addresses);
        else callback(null, first?.address ?? '', first?.family ?? 0);
      });
    };
  }

  #requireAllowed(addresses: readonly string[], isSecure: boolean): void {
    const isAllowed = (address: string): boolean =>
      this.#isListed(address) || (isSecure && isPublic(address));
    if (addresses.length === 0 || !addresses.every(isAllowed))
      throw refused('its address is not public, and no network of --notification-networks has it');
  }
}

/** Of IPv6, only 2000::/3 is assigned to public addresses: others may lead to the IPv4 address that they contain. */
const ASSIGNED = ipaddr.IPv6.parseCIDR('2000::/3');

/** IPv4 addresses in the form `::ffff:…` count as IPv4. */
function isPublic(address: string): boolean {
  const parsed = ipaddr.process(address);
  return parsed.range() === 'unicast' && (parsed instanceof ipaddr.IPv4 || parsed.match(ASSIGNED));
}

function refused(reason: string): CallerStatsError {
  return new CallerStatsError('invalid', reason);
}
