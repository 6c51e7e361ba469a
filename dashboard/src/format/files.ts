/** A file name: `docs-2026-06-01-to-2026-06-30-day.csv`. */
export function fileName(...parts: readonly string[]): string {
  const name = parts.map((part) => part.replaceAll(/[^A-Za-z0-9._-]+/g, '-')).join('-');
  return name.replaceAll(/-{2,}/g, '-').replace(/^-+/, '');
}
