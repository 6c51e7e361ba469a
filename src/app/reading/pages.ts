/** All pages of what a store reads in parts, each of which begins after the last item of the one before. The last one is empty. */
export async function* pagesOf<Item>(
  read: (after: Item | undefined) => Promise<readonly Item[]>,
): AsyncGenerator<readonly Item[]> {
  for (let page = await read(undefined); page.length > 0; page = await read(page.at(-1))) yield page;
}
