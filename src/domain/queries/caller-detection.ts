/**
 * From a request to the caller that sent it: `web`, `api`, or the name of an integration or SDK. Pure, and made of
 * nothing but the language, because assistants run it wherever they run: the client package has this very file in it.
 *
 * Everything that it reads can be written by whoever sends the request. It sorts honest callers; it keeps nobody out.
 */

/** What is looked at: a standard `Request`, a request of Node's, or anything else that has headers. */
export interface DetectableRequest {
  /** Names in lower case where it is a plain object, as Node has them. */
  readonly headers: HeaderReader | Readonly<Record<string, string | readonly string[] | undefined>>;
}

/** The part of a standard `Headers` that is needed. */
interface HeaderReader {
  get(name: string): string | null;
}

/** An integration or SDK and how its requests look. Any one of its signs is enough. */
export interface KnownCaller {
  /** The caller's name: 1 to 64 of `a-z 0-9 . _ -`. */
  readonly caller: string;
  /** Something that its `User-Agent` has in it, in any case: `Slackbot`. */
  readonly userAgent?: string;
  /** A header that it always sends. */
  readonly header?: string;
  /** With `header`: what must stand in it, in any case. Left out, any value will do. */
  readonly value?: string;
}

/** How to tell callers apart. Read from the top: the first that fits says who it is. */
export interface CallerRules {
  /**
   * A header in which your own integrations and SDKs name themselves. Its value is the caller if it is a name that the
   * service takes; `web` and `api` are names too. None unless given.
   */
  readonly callerHeader?: string;
  /**
   * Origins of the documentation site, as browsers send them: `https://docs.example.com`; with `https://*.example.com`
   * every host below. A request with such an `Origin`, or without any and with such a `Referer`, is from `web`.
   */
  readonly siteOrigins?: readonly string[];
  /** Integrations and SDKs. Instead of `KNOWN_CALLERS`; spread those into your own to keep them. */
  readonly known?: readonly KnownCaller[];
  /** Headers that only direct calls of the API have, whatever their value. `authorization` and `x-api-key` unless given. */
  readonly apiHeaders?: readonly string[];
  /** Who it is where nothing fits. `unknown` unless given, which counts as other. */
  readonly fallback?: string;
}

/** Integrations and SDKs that say who they are in every request, each by what its own documentation promises. */
export const KNOWN_CALLERS: readonly KnownCaller[] = [
  { caller: 'slack', header: 'x-slack-signature' },
  { caller: 'slack', userAgent: 'slackbot' },
  { caller: 'discord', header: 'x-signature-ed25519' },
  { caller: 'discord', userAgent: 'discordbot' },
  { caller: 'github', userAgent: 'github-hookshot/' },
  { caller: 'microsoft-teams', userAgent: 'microsoft-skypebotapi' },
  { caller: 'zapier', userAgent: 'zapier' },
  { caller: 'chatgpt', userAgent: 'chatgpt-user/' },
  { caller: 'claude', userAgent: 'claude-user/' },
  { caller: 'perplexity', userAgent: 'perplexity-user/' },
  // The Model Context Protocol has every client name its version, from 2025-06-18 on.
  { caller: 'mcp', header: 'mcp-protocol-version' },
  // What SDKs that Stainless generates send in every request.
  { caller: 'sdk-python', header: 'x-stainless-lang', value: 'python' },
  { caller: 'sdk-js', header: 'x-stainless-lang', value: 'js' },
  { caller: 'sdk-go', header: 'x-stainless-lang', value: 'go' },
  { caller: 'sdk-java', header: 'x-stainless-lang', value: 'java' },
  { caller: 'sdk-kotlin', header: 'x-stainless-lang', value: 'kotlin' },
  { caller: 'sdk-ruby', header: 'x-stainless-lang', value: 'ruby' },
];

const API_HEADERS: readonly string[] = ['authorization', 'x-api-key'];

const UNKNOWN = 'unknown';

/** The same pattern as the service's: a test holds the two together. */
const callerName = /^[a-z0-9._-]{1,64}$/;

/**
 * Names the caller of a request. Throws nothing for any request; whether the rules themselves are usable is told by
 * `callerRulesProblems`.
 */
export function detectCaller(request: DetectableRequest, rules: CallerRules = {}): string {
  const read = headersOf(request);
  const named = rules.callerHeader === undefined ? '' : read(rules.callerHeader).trim();
  if (callerName.test(named)) return named;
  if (isFromSite(read, rules.siteOrigins ?? [])) return 'web';
  const known = (rules.known ?? KNOWN_CALLERS).find((one) => isOf(one, read));
  if (known !== undefined) return known.caller;
  if ((rules.apiHeaders ?? API_HEADERS).some((name) => read(name) !== '')) return 'api';
  return rules.fallback ?? UNKNOWN;
}

/** What is wrong with rules, each beginning with where. Empty if they can be used. */
export function callerRulesProblems(rules: CallerRules): string[] {
  const named: (readonly [where: string, caller: string])[] = (rules.known ?? []).map(({ caller }, at) => [
    `known[${at}].caller`,
    caller,
  ]);
  if (rules.fallback !== undefined) named.push(['fallback', rules.fallback]);
  return [
    ...(rules.siteOrigins ?? []).flatMap((origin, at) =>
      isOriginPattern(origin)
        ? []
        : [
            `siteOrigins[${at}]: ${JSON.stringify(origin)} is not an origin such as https://docs.example.com or https://*.example.com`,
          ],
    ),
    ...(rules.known ?? []).flatMap(({ userAgent, header, value }, at) => [
      ...(userAgent || header ? [] : [`known[${at}]: has neither a userAgent nor a header to be known by`]),
      ...(value !== undefined && !header ? [`known[${at}]: has a value, but no header for it`] : []),
    ]),
    ...named
      .filter(([, caller]) => !callerName.test(caller))
      .map(
        ([where, caller]) =>
          `${where}: ${JSON.stringify(caller)} is not a name of 1 to 64 of a-z 0-9 . _ - (web, api, slack, sdk-python)`,
      ),
  ];
}

/** The value of a header, or nothing: what is sent empty says nothing either. */
type ReadHeader = (name: string) => string;

function headersOf({ headers }: DetectableRequest): ReadHeader {
  if (isReader(headers)) return (name) => headers.get(name) ?? '';
  return (name) => {
    const value = headers[name.toLowerCase()];
    return typeof value === 'string' ? value : (value?.join(', ') ?? '');
  };
}

function isReader(headers: DetectableRequest['headers']): headers is HeaderReader {
  return typeof headers.get === 'function';
}

function isOf({ userAgent, header, value }: KnownCaller, read: ReadHeader): boolean {
  if (userAgent !== undefined && read('user-agent').toLowerCase().includes(userAgent.toLowerCase()))
    return true;
  if (header === undefined) return false;
  const sent = read(header);
  return value === undefined ? sent !== '' : sent.toLowerCase() === value.toLowerCase();
}

/** `Origin` is in every request that a page sends but plain navigation; there, the page is named by `Referer`. */
function isFromSite(read: ReadHeader, siteOrigins: readonly string[]): boolean {
  const origin = read('origin') || originOf(read('referer'));
  return origin !== '' && siteOrigins.some((pattern) => fits(pattern, origin));
}

function originOf(address: string): string {
  return /^https?:\/\/[^/?#\\@\s]+/i.exec(address)?.[0] ?? '';
}

/** Scheme and host in any case. A pattern's `*.` stands for one name or more, never for none. */
function fits(pattern: string, origin: string): boolean {
  const [before, behind] = pattern.toLowerCase().split('*');
  const sent = origin.toLowerCase();
  if (before === undefined || behind === undefined) return sent === before;
  const host = sent.slice(before.length, -behind.length);
  return sent.startsWith(before) && sent.endsWith(behind) && /^[a-z0-9-]+(\.[a-z0-9-]+)*$/.test(host);
}

function isOriginPattern(pattern: string): boolean {
  return /^https?:\/\/(\*\.)?([a-z0-9-]+(\.[a-z0-9-]+)*|\[[0-9a-f:.]+\])(:\d{1,5})?$/i.test(pattern);
}
