/** The settings that say how the server is reached: by which proxies, under which address and path. */
import { parseNetworks } from '../../domain/keys/networks.js';
import { failure, type Result, success } from '../../domain/result.js';
import type { BasePath } from '../../http/request/base-path.js';
import { origin, setting } from './setting.js';

export const WEB_SETTINGS = {
  trustProxy: setting({
    flag: 'trust-proxy',
    environment: 'CALLER_STATS_TRUST_PROXY',
    fallback: 'none',
    placeholder: 'networks',
    description: 'proxies whose X-Forwarded-For is believed, as 10.0.0.0/8,::1',
    parse: (text) => (text === 'none' ? success([]) : parseNetworks(text.split(','))),
  }),
  publicUrl: setting<string | null>({
    flag: 'public-url',
    environment: 'CALLER_STATS_PUBLIC_URL',
    fallback: 'none',
    placeholder: 'url',
    description: 'where browsers find the server, as https://stats.example.org; for links and single sign-on',
    parse: (text) => (text === 'none' ? success(null) : origin(text)),
  }),
  basePath: setting<BasePath>({
    flag: 'base-path',
    environment: 'BASE_PATH',
    fallback: '/',
    placeholder: 'path',
    description: 'path that everything is below, as /stats; a proxy hands it on as it came',
    parse: basePath,
  }),
};

/** Plain segments only: the path stands in headers, cookies and pages, and must look the same in each. */
function basePath(text: string): Result<BasePath> {
  const path = text.replace(/\/$/, '');
  const isPlain = /^(\/[A-Za-z0-9_~.-]+)*$/.test(path) && !/\/\.\.?(\/|$)/.test(path);
  return isPlain && text !== ''
    ? success(path as BasePath)
    : failure('is not a path as /stats, of letters, digits and - _ ~ .');
}
