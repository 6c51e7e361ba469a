/** Stands in for what Vite builds of the dashboard, which the tests in a browser have. */
import { mkdir, writeFile } from 'node:fs/promises';
import { join } from 'node:path';
import { brotliCompressSync, gzipSync } from 'node:zlib';

export const PAGE =
  '<!doctype html><meta name="base-path" content=""><title>caller-stats</title><script src="/theme.js"></script>';

export const SCRIPT = { path: '/assets/index-1a2b3c.js', text: 'export {};\n'.repeat(200) } as const;

/** Makes them in a folder, each file compressed beside it but for the small one; gives their own folder. */
export async function makePages(folder: string): Promise<string> {
  const pages = join(folder, 'pages');
  await mkdir(join(pages, 'assets'), { recursive: true });
  for (const [name, text] of [
    ['index.html', PAGE],
    [SCRIPT.path, SCRIPT.text],
  ] as const) {
    await writeFile(join(pages, name), text);
    await writeFile(join(pages, `${name}.br`), brotliCompressSync(text));
    await writeFile(join(pages, `${name}.gz`), gzipSync(text));
  }
  await writeFile(join(pages, 'theme.js'), '');
  return pages;
}
