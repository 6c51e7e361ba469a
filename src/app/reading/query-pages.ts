import type { RecordedQuery } from '../../domain/queries/receipt.js';

/** All pages of `CountStore.readQueries`. */
export async function* queryPages(
  read: (afterId: string | undefined) => Promise<readonly RecordedQuery[]>,
): AsyncGenerator<readonly RecordedQuery[]> {
  for (let page = await read(undefined); page.length > 0; page = await read(page.at(-1)?.id)) yield page;
}
