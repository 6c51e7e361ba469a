/**
 * Makes of VitePress's pages such as the server's Content-Security-Policy lets in: no script and no style within a page.
 * What was within pages becomes files beside the others.
 */
import { createHash } from 'node:crypto';
import { mkdirSync, writeFileSync } from 'node:fs';
import { dirname, join } from 'node:path';
import { transformerStyleToClass } from '@shikijs/transformers';

/** Colours of code as classes, not as styles of each word. */
export const codeColours = transformerStyleToClass({ classPrefix: 'code-' });

/** Texts of files by their names, which change with what is in them: browsers may keep them. */
const files = new Map<string, string>();

function fileOf(text: string, end: string): string {
  const file = `assets/inline.${createHash('sha256').update(text).digest('hex').slice(0, 8)}${end}`;
  files.set(file, text);
  return file;
}

/** A page whose code is highlighted already, as all are when the first is written. `base` has a slash at both ends. */
export function strictPage(html: string, base: string): string {
  const colours = fileOf(codeColours.getCSS(), '.css');
  return html
    .replaceAll(/<script(?![^>]*\bsrc=)([^>]*)>([\s\S]*?)<\/script>/g, (_all, attributes, code: string) => {
      return `<script${attributes} src="${base}${fileOf(code, '.js')}"></script>`;
    })
    .replaceAll(/(<[a-z][^<>]*?) style="[^"]*"/g, '$1')
    .replaceAll(/rel="preload stylesheet"([^>]*) as="style"/g, 'rel="stylesheet"$1')
    .replace('</head>', `<link rel="stylesheet" href="${base}${colours}"></head>`);
}

/** Writes the files that the pages refer to from now on. */
export function writeStrictFiles(folder: string): void {
  for (const [file, text] of files) {
    mkdirSync(dirname(join(folder, file)), { recursive: true });
    writeFileSync(join(folder, file), text);
  }
}
