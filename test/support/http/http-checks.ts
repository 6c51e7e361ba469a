/** Checks that apply to every response. Each response in each HTTP test passes through here. */
import { expect } from 'vitest';
import { at, isMissingPage, type OpenApi } from './openapi.js';

export interface Answer {
  readonly status: number;
  /** Names in lower case. */
  readonly headers: Readonly<Record<string, string>>;
  readonly text: string;
  /** The body of an injected request's response, for binary formats. */
  readonly bytes?: Uint8Array;
  /** The values of `Set-Cookie`, which is not in `headers`. */
  readonly cookies: readonly string[];
}

export interface Asked {
  readonly method: string;
  readonly path: string;
  readonly connectionError?: boolean;
  /** Set by tests that break the store on purpose: only they may get a 500. */
  readonly failing?: boolean;
}

/** Parts of stack traces, SQL and file names, which no error may contain. */
const INSIDES = /\n\s*at |node:|node_modules|[\w-]\.[cm]?[jt]s\b|\b(SELECT|INSERT|UPDATE|FROM)\b|sqlite/;

const SECURITY_HEADERS = {
  'cross-origin-resource-policy': 'same-origin',
  'referrer-policy': 'no-referrer',
  'x-content-type-options': 'nosniff',
};

const SECURITY_POLICY = /^default-src '(none|self)';.*frame-ancestors 'none'/;

/** For responses that are not pages. A browser that shows one loads nothing that it names. */
const DATA_POLICY = "default-src 'none'; frame-ancestors 'none'";
const DATA = /^\/(?:api|v1|mcp)(?![\w-])/;

/** The policy of the page of a share link that other origins may embed. */
const EMBEDDABLE_POLICY =
  /^default-src 'none';.*; frame-ancestors https?:\/\/[\w.:-]+( https?:\/\/[\w.:-]+)*$/;

/** A sentence. It may begin with an e-mail address. */
const SENTENCE = /^([A-Z]|[^\s@]+@\S+ ).*[.?]$/s;

/** Headers that no response may have: CORS, and headers that reveal the software. */
const NEVER = /^(access-control-.*|x-powered-by|server)$/;

/** The dashboard's API, whose responses are the only ones with cookies. */
const OTLP = /^\/v1\/(traces|logs|metrics)/;
const DASHBOARD = /^\/api\/(?!shared\/)/;

/** Scripts cannot read our cookies, and other sites cannot make a browser send them with a change. */
const COOKIE =
  /^(?:caller-stats\.\w+=[^;]*;(?!.*; Secure)|__(?:Secure|Host)-caller-stats\.\w+=[^;]*;(?=.*; Secure;))(?=.*; HttpOnly;)(?=.*; SameSite=(Lax|Strict);)(?=.*; Path=\/\S*;)(?!.*; Domain)/i;

/** Throws if the response breaks a rule for all responses, or contains one of `secrets`. */
export function checkAnswer(
  openApi: OpenApi,
  asked: Asked,
  answer: Answer,
  secrets: readonly string[],
): void {
  const { status, headers, text } = answer;
  const about = `${asked.method} ${asked.path.slice(0, 200)} → ${status} ${text.slice(0, 300)}`;
  openApi.check({ ...asked, status, contentType: headers['content-type'], text });

  for (const [name, wanted] of Object.entries(SECURITY_HEADERS)) requireIs(headers[name], wanted, about);
  checkFrames(openApi.below(asked.path), headers, about);
  if (DATA.test(openApi.below(asked.path)) && !isMissingPage(status, headers['content-type']))
    requireIs(headers['content-security-policy'], DATA_POLICY, about);
  // Browsers may cache the dashboard's files and nothing else.
  if (
    !/^(no-cache|public, max-age=\d+, immutable)$/.test(headers['cache-control'] ?? '') ||
    !isFile(asked, answer)
  )
    requireIs(headers['cache-control'], 'no-store', about);
  for (const cookie of answer.cookies) {
    expect(openApi.below(asked.path), about).toMatch(DASHBOARD);
    expect(`${cookie};`, about).toMatch(COOKIE);
  }
  requireIs(
    Object.keys(headers).find((name) => NEVER.test(name)),
    undefined,
    about,
  );
  const everything = `${JSON.stringify(headers)} ${text}`;
  requireIs(
    secrets.some((secret) => everything.includes(secret)),
    false,
    'a key is in the answer',
  );
  const challenge = DASHBOARD.test(asked.path) ? 'Cookie' : 'Bearer';
  // `/mcp` says where applications ask for a token.
  const sent = headers['www-authenticate']?.replace(
    / resource_metadata="http[^"]+\/oauth-protected-resource"(, error="invalid_token")?$/,
    '',
  );
  requireIs(sent, status === 401 ? challenge : undefined, about);
  if (status === 405) expect(headers['allow'], about).toMatch(/^[A-Z]+(, [A-Z]+)*$/);
  if (status === 503) expect(headers['retry-after'], about).toMatch(/^[1-9]\d*$/);
  if (status === 500) expect(asked.failing, about).toBe(true);
  if (status >= 400 && !isMissingPage(status, headers['content-type'])) checkError(asked, answer, about);
}

/** No page of others may embed a response, except the pages that the owner of a share link allowed. */
function checkFrames(path: string, headers: Answer['headers'], about: string): void {
  const policy = headers['content-security-policy'] ?? '';
  const isEmbeddable = /^\/share\/\w+$/.test(path) && EMBEDDABLE_POLICY.test(policy);
  requireIs(headers['x-frame-options'], isEmbeddable ? undefined : 'DENY', about);
  if (!isEmbeddable && !SECURITY_POLICY.test(policy)) expect(policy, about).toMatch(SECURITY_POLICY);
}

/** Calls `expect` only on failure: it takes as long as a request, and there are tens of thousands of responses. */
export function requireIs<T>(value: T, wanted: T, about: string): void {
  if (value !== wanted) expect(value, about).toBe(wanted);
}

function isFile({ path }: Asked, { status, headers }: Answer): boolean {
  return (
    status < 400 && !path.startsWith('/api/') && !/^application\/json/.test(headers['content-type'] ?? '')
  );
}

/** The message of a `google.rpc.Status`, behind its tag and length. Undefined for what is none. */
export function statusMessageOf({ headers, text }: Answer): string | undefined {
  // A length of two bytes is decoded as a replacement character and another one.
  if (headers['content-type'] === 'application/x-protobuf') return text.slice(text[1] === '\ufffd' ? 3 : 2);
  return undefined;
}

function checkError(asked: Asked, answer: Answer, about: string): void {
  const { headers, text } = answer;
  const message = statusMessageOf(answer);
  if (message !== undefined && OTLP.test(asked.path)) {
    expect(message, about).toMatch(SENTENCE);
    return;
  }
  requireIs(headers['content-type'], 'application/json; charset=utf-8', about);
  if (asked.method === 'HEAD') return;
  if (INSIDES.test(text)) expect(text, about).not.toMatch(INSIDES);
  requireIs(text.includes(process.cwd()), false, about);
  const body = JSON.parse(text) as unknown;
  // A message of the Model Context Protocol.
  if (at(body, 'jsonrpc') !== undefined) return;
  // RFC 6749, section 5.2: `error` is a code.
  const description = at(body, 'error_description');
  if (description !== undefined) {
    expect(description, about).toMatch(SENTENCE);
    return;
  }
  const error = at(body, 'error');
  if (typeof error !== 'string' || !SENTENCE.test(error)) expect(error, about).toMatch(SENTENCE);
  const details = at(body, 'details');
  if (details === undefined) return;
  expect(details, about).not.toEqual([]);
  for (const detail of details as unknown[]) {
    const message = at(detail, 'message');
    if (typeof message !== 'string' || message === '' || Object.keys(detail as object).length !== 1)
      expect(detail, about).toEqual({ message: expect.stringMatching(/./) as unknown });
  }
  // Many clients show `error` alone.
  const [first, ...others] = (details as unknown[]).map((detail) => String(at(detail, 'message')));
  const end = `: ${first?.replace(/\.$/, '')}${others.length === 0 ? '' : ' (and '}`;
  requireIs(String(error).includes(end), true, about);
  requireIs(/\(and \d+ more\)\.$/.test(String(error)), others.length > 0, about);
}

/** The parts of a response that a client sees, without its date. */
export function withoutDate({ status, headers, text }: Answer): unknown {
  return { status, text, headers: { ...headers, date: undefined } };
}
