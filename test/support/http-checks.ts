/** What holds for every answer, whatever was asked: every answer in every test goes through here. */
import { expect } from 'vitest';
import { at, type OpenApi } from './openapi.js';

export interface Answer {
  readonly status: number;
  /** Names in lower case. */
  readonly headers: Readonly<Record<string, string>>;
  readonly text: string;
  /** The body of an answer to a request that was injected, for what is not text. */
  readonly bytes?: Uint8Array;
  /** The values of `Set-Cookie`, which `headers` is without. */
  readonly cookies: readonly string[];
}

export interface Asked {
  readonly method: string;
  readonly path: string;
  readonly connectionError?: boolean;
  /** A test that breaks the store on purpose expects 500; nothing else ever may. */
  readonly failing?: boolean;
}

/** Words of stacks, of the database and of files: nothing of it may stand in an error. */
const INSIDES = /\n\s*at |node:|node_modules|[\w-]\.[cm]?[jt]s\b|\b(SELECT|INSERT|UPDATE|FROM)\b|sqlite/;

const SECURITY_HEADERS = {
  'content-security-policy': expect.stringMatching(
    /^default-src '(none|self)';.*frame-ancestors 'none'/,
  ) as string,
  'cross-origin-resource-policy': 'same-origin',
  'referrer-policy': 'no-referrer',
  'strict-transport-security': 'max-age=31536000',
  'x-content-type-options': 'nosniff',
  'x-frame-options': 'DENY',
};

/** Headers that no answer has: for pages of others, about what runs here. */
const NEVER = /^(access-control-.*|x-powered-by|server)$/;

/** The dashboard's API: the only answers with cookies. */
const DASHBOARD = /^\/api\//;

/** No script of a page can read a cookie of ours, and no page of another site make a browser send it with a change. */
const COOKIE =
  /^(?:caller-stats\.\w+=[^;]*;(?!.*; Secure)|__Secure-caller-stats\.\w+=[^;]*;(?=.*; Secure;))(?=.*; HttpOnly;)(?=.*; SameSite=(Lax|Strict);)(?=.*; Path=\/(api)?;)(?!.*; Domain)/i;

/** Throws where the answer breaks a promise that is made for all answers. `secrets` may stand in none. */
export function checkAnswer(
  openApi: OpenApi,
  asked: Asked,
  answer: Answer,
  secrets: readonly string[],
): void {
  const { status, headers, text } = answer;
  const about = `${asked.method} ${asked.path.slice(0, 200)} → ${status} ${text.slice(0, 300)}`;
  openApi.check({ ...asked, status, contentType: headers['content-type'], text });

  expect(headers, about).toMatchObject(SECURITY_HEADERS);
  // A browser may keep the files of the dashboard, and nothing else.
  if (
    !/^(no-cache|public, max-age=\d+, immutable)$/.test(headers['cache-control'] ?? '') ||
    !isFile(asked, answer)
  )
    expect(headers['cache-control'], about).toBe('no-store');
  for (const cookie of answer.cookies) {
    expect(asked.path, about).toMatch(DASHBOARD);
    expect(`${cookie};`, about).toMatch(COOKIE);
  }
  expect(
    Object.keys(headers).filter((name) => NEVER.test(name)),
    about,
  ).toEqual([]);
  const everything = `${JSON.stringify(headers)} ${text}`;
  for (const secret of secrets) expect(everything.includes(secret), 'a key is in the answer').toBe(false);
  const challenge = DASHBOARD.test(asked.path) ? 'Cookie' : 'Bearer';
  expect(headers['www-authenticate'], about).toBe(status === 401 ? challenge : undefined);
  if (status === 405) expect(headers['allow'], about).toMatch(/^[A-Z]+(, [A-Z]+)*$/);
  if (status === 503) expect(headers['retry-after'], about).toMatch(/^[1-9]\d*$/);
  if (!asked.failing) expect(status, about).not.toBe(500);
  if (status >= 400) checkError(asked, answer, about);
}

function isFile({ path }: Asked, { status, headers }: Answer): boolean {
  return (
    status < 400 && !path.startsWith('/api/') && !/^application\/json/.test(headers['content-type'] ?? '')
  );
}

function checkError(asked: Asked, { headers, text }: Answer, about: string): void {
  expect(headers['content-type'], about).toBe('application/json; charset=utf-8');
  if (asked.method === 'HEAD') return;
  expect(text, about).not.toMatch(INSIDES);
  expect(text.includes(process.cwd()), about).toBe(false);
  const body = JSON.parse(text) as unknown;
  // A sentence, which may begin with an e-mail address.
  expect(at(body, 'error'), about).toMatch(/^([A-Z]|[^\s@]+@\S+ ).*\.$/s);
  const details = at(body, 'details');
  if (details === undefined) return;
  expect(details, about).not.toEqual([]);
  for (const detail of details as unknown[]) {
    expect(detail, about).toEqual({ message: expect.stringMatching(/./) as unknown });
  }
}
