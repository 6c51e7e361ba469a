/** Stand-ins for the built dashboard and docs, which only the browser tests use. */
import { mkdir, writeFile } from 'node:fs/promises';
import { join } from 'node:path';
import { brotliCompressSync, gzipSync } from 'node:zlib';

export const PAGE =
  '<!doctype html><meta name="referrer" content="same-origin"><meta name="base-path" content=""><title>caller-stats</title><link rel="preload" href="/api/start" as="fetch"><script src="/theme.js"></script>';

export const SCRIPT = { path: '/assets/index-1a2b3c.js', text: 'export {};\n'.repeat(200) } as const;

/** Writes the pages below a folder and returns their own folder. */
export async function makePages(folder: string): Promise<string> {
  const pages = join(folder, 'pages');
  await mkdir(join(pages, 'assets'), { recursive: true });
  await writeCompressed(join(pages, 'index.html'), PAGE);
  await writeCompressed(join(pages, SCRIPT.path), SCRIPT.text);
  await writeFile(join(pages, 'theme.js'), '');
  return pages;
}

export const DOCS_SCRIPT = '/docs/assets/chunks/theme.1a2b3c.js';

export const DOCS_PAGE = `<!doctype html><title>Docs</title><script src="${DOCS_SCRIPT}"></script>`;

/** Pages for programs have addresses, for which the site is built with the server's default one. */
export const DOCS_LIST = '# Docs\n\n- [Settings](http://127.0.0.1:4000/docs/settings.md)\n';

export const DOCS_MISSING_PAGE = '<!doctype html><title>404</title>';

/** Writes a documentation site below a folder and returns its own folder. */
export async function makeDocs(folder: string): Promise<string> {
  const docs = join(folder, 'docs');
  await mkdir(join(docs, 'assets/chunks'), { recursive: true });
  await mkdir(join(docs, 'files'));
  for (const name of ['index.html', 'settings.html']) await writeCompressed(join(docs, name), DOCS_PAGE);
  await writeFile(join(docs, '404.html'), DOCS_MISSING_PAGE);
  await writeFile(join(docs, 'hashmap.json'), '{}');
  await writeFile(join(docs, 'llms.txt'), DOCS_LIST);
  await writeFile(join(docs, 'settings.md'), '# Settings\n');
  await writeFile(join(docs, DOCS_SCRIPT.replace('/docs/', '')), SCRIPT.text);
  await writeFile(join(docs, 'files/datasource.yaml'), 'apiVersion: 1\n');
  return docs;
}

const compressed = new Map([PAGE, SCRIPT.text, DOCS_PAGE].map((text) => [text, compress(text)]));

function compress(text: string) {
  return { br: brotliCompressSync(text), gz: gzipSync(text) };
}

async function writeCompressed(path: string, text: string): Promise<void> {
  await writeFile(path, text);
  for (const [extension, bytes] of Object.entries(compressed.get(text) ?? {}))
    await writeFile(`${path}.${extension}`, bytes);
}
