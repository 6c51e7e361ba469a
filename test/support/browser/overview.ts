/** Reads the overview page of the dashboard. */
import type { Locator, Page } from 'playwright-core';
import { expect } from 'vitest';
import type { Counts } from '../../../src/domain/counting/counts.js';

/** The time that a page may take on a busy machine. */
export const patience = { timeout: 30_000 } as const;

/** The four numbers, or undefined while there are none. */
export async function tilesOf(page: Page): Promise<Counts | undefined> {
  const tiles = await page
    .locator('.tile')
    .evaluateAll((all) =>
      (all as unknown as Part[]).map((tile) => [
        tile.querySelector('dt')?.textContent,
        tile.querySelector('dd')?.textContent,
      ]),
    );
  const numbers = Object.fromEntries(tiles.map(([name, text]) => [name?.toLowerCase(), numberOf(text)]));
  const { web, api, other, total } = numbers;
  if (web === undefined || api === undefined || other === undefined || total === undefined) return undefined;
  return { web, api, other, total };
}

/** Waits until the four numbers are these. */
export async function expectTiles(page: Page, counts: Counts): Promise<void> {
  await expect.poll(() => tilesOf(page), patience).toEqual(counts);
}

/** Polls while seconds pass in the page, whose clock must be installed: it asks the server again after up to ten of them. */
export function pollSeconds<T>(page: Page, look: () => Promise<T>) {
  return expect.poll(async () => {
    await page.clock.fastForward(1_000);
    return look();
  }, patience);
}

/** The cells of a table's body, row by row. */
export function rowsOf(table: Locator): Promise<string[][]> {
  return table
    .locator('tbody tr')
    .evaluateAll((rows) =>
      (rows as unknown as Part[]).map(({ children }) =>
        Array.from(children, (cell) => cell.innerText.trim()),
      ),
    );
}

/** The used properties of an element; tests are compiled without the types of browsers. */
interface Part {
  readonly innerText: string;
  readonly textContent: string | null;
  readonly children: Iterable<Part>;
  querySelector(selector: string): Part | null;
}

/** The value of a formatted count, with any thousands separator. */
export function numberOf(text: string | null | undefined): number | undefined {
  const digits = text?.replaceAll(/\D/g, '') ?? '';
  return digits === '' ? undefined : Number(digits);
}
