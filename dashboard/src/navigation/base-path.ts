/** Where the server mounts the dashboard. */

/** Unit tests load this module without a document. */
const page = globalThis as unknown as {
  readonly document?: { querySelector(of: string): { getAttribute(name: string): string | null } | null };
  readonly location: { readonly origin: string };
};

/**
 * The base path of the server, such as `/stats`, or '' without one. The server writes it into the page. Routes and
 * links within the dashboard omit it; only API requests and displayed URLs need it.
 */
export const basePath: string =
  page.document?.querySelector('meta[name="base-path"]')?.getAttribute('content') ?? '';

/** The server's public URL, without a trailing slash. */
export function serverUrl(): string {
  return `${page.location.origin}${basePath}`;
}

/** The address of a page of the documentation; the start page for ''. */
export function docsUrl(page: string): string {
  return `${basePath}/docs/${page}`;
}

/** Removes the base path. */
export function withoutBasePath(path: string): string {
  const rest = path.startsWith(basePath) ? path.slice(basePath.length) : path;
  return rest === '' ? '/' : rest;
}
