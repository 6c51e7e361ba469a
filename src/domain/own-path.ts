/** Paths of this server that come from outside, such as the one to return to after signing in. */

const ORIGIN = 'http://own.test';

/** The path as browsers read it, without dots, so that it stays below the base path. Undefined for what leads elsewhere. */
export function toOwnPath(text: string): string | undefined {
  if (!isPath(text) || !URL.canParse(text, ORIGIN)) return undefined;
  const { origin, pathname, search } = new URL(text, ORIGIN);
  // `/..//other.test` has the path `//other.test`, which the browser would read as a host.
  return origin === ORIGIN && isPath(pathname) ? `${pathname}${search}` : undefined;
}

/** Whether browsers read it as a path of the same host. */
function isPath(text: string): boolean {
  return /^\/(?![/\\])/.test(text);
}
