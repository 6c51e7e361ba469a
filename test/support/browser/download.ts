/** Files that a page downloads. */
import { readFile } from 'node:fs/promises';
import type { Page } from 'playwright-core';

/** The file that an action downloads. */
export async function readDownload(page: Page, act: () => Promise<void>) {
  const coming = page.waitForEvent('download');
  await act();
  const file = await coming;
  const bytes = await readFile(await file.path());
  return { name: file.suggestedFilename(), text: bytes.toString(), bytes };
}
