/** Where the server has put the dashboard. */

/** Tests load this where there is no page. */
const page = globalThis as unknown as {
  readonly document?: { querySelector(of: string): { getAttribute(name: string): string | null } | null };
  readonly location: { readonly origin: string };
};

/**
 * The path that the server has everything below, as `/stats`; '' where it has the host to itself. The server writes it into
 * the page. Routes and links within the dashboard go without: only what is asked of the server, or shown to be, has it.
 */
export const basePath: string =
  page.document?.querySelector('meta[name="base-path"]')?.getAttribute('content') ?? '';

/** The server's address, as others are to use it. No slash behind it. */
export function serverUrl(): string {
  return `${page.location.origin}${basePath}`;
}

/** A path without the base path. */
export function withoutBasePath(path: string): string {
  const rest = path.startsWith(basePath) ? path.slice(basePath.length) : path;
  return rest === '' ? '/' : rest;
}
