/** What VitePress leaves out of its HTML: the names of buttons, and the sizes of images, which load when they come into view. */
import { readFileSync } from 'node:fs';
import { join } from 'node:path';

/** A token of markdown-it. */
interface Token {
  type: string;
  content: string;
  readonly children: Token[] | null;
  attrGet: (name: string) => string | null;
  attrSet: (name: string, value: string) => void;
}

type Rule<Args extends readonly unknown[]> = (...args: Args) => string;

export function nameButtons<Args extends readonly unknown[]>(rules: {
  fence?: Rule<Args> | undefined;
}): void {
  const { fence } = rules;
  if (fence === undefined) return;
  rules.fence = (...args) =>
    fence(...args).replace(
      '<button title="Copy code"',
      '<button type="button" aria-label="Copy code" title="Copy code"',
    );
}

/** Keeps the room of a page's images. */
export function reserveImages(tokens: readonly Token[], folder: string): void {
  for (const token of tokens) {
    if (token.type === 'html_block')
      token.content = token.content.replaceAll(
        /(<img [^>]*src="([^"]+)")/g,
        (_all, image: string, source: string) =>
          `${image} ${Object.entries(attributesOf(join(folder, source)))
            .map(([name, value]) => `${name}="${value}"`)
            .join(' ')}`,
      );
    if (token.type === 'image')
      for (const [name, value] of Object.entries(attributesOf(join(folder, token.attrGet('src') ?? ''))))
        token.attrSet(name, value);
    reserveImages(token.children ?? [], folder);
  }
}

/** Of a WebP without loss, or a diagram. */
function attributesOf(file: string): Record<string, string> {
  const bytes = readFileSync(file);
  // 14 bits each, behind the names of the format and its signature.
  const bits = bytes.readUInt32LE(21);
  const [width, height] = file.endsWith('.webp')
    ? [(bits & 0x3fff) + 1, ((bits >> 14) & 0x3fff) + 1]
    : (/viewBox="0 0 (\d+) (\d+)"/.exec(bytes.toString())?.slice(1) ?? []);
  return { width: String(width), height: String(height), loading: 'lazy' };
}
