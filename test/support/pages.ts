/** Stands in for what is built of the dashboard and the docs, which the tests in a browser have. */
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

export const DOCS_SCRIPT = '/docs/assets/chunks/theme.1a2b3c.js';

export const DOCS_PAGE = `<!doctype html><title>Docs</title><script src="${DOCS_SCRIPT}"></script>`;

/** Makes a site of the documentation in a folder, each page compressed beside it; gives its own folder. */
export async function makeDocs(folder: string): Promise<string> {
  const docs = join(folder, 'docs');
  await mkdir(join(docs, 'assets/chunks'), { recursive: true });
  await mkdir(join(docs, 'files'));
  for (const name of ['index.html', 'settings.html', '404.html']) {
    await writeFile(join(docs, name), DOCS_PAGE);
    await writeFile(join(docs, `${name}.br`), brotliCompressSync(DOCS_PAGE));
    await writeFile(join(docs, `${name}.gz`), gzipSync(DOCS_PAGE));
  }
  await writeFile(join(docs, 'hashmap.json'), '{}');
  await writeFile(join(docs, DOCS_SCRIPT.replace('/docs/', '')), SCRIPT.text);
  await writeFile(join(docs, 'files/datasource.yaml'), 'apiVersion: 1\n');
  return docs;
}
