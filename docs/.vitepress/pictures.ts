/** The picture of each page that other sites show with a link to it: its place in the docs, its title and its description. */
import { copyFileSync, mkdirSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { ImageResponse } from 'next/og.js';
import { type CSSProperties, createElement, type ReactNode } from 'react';
import sharp from 'sharp';
import { GROUPS } from './page-list.js';

export const size = { width: 1200, height: 630 } as const;

/** Of the page on which the docs begin: the dashboard. */
const OVERVIEW = 'docs/images/preview.png';

/** The file of a page's picture in the site. */
export const pictureOf = (page: string): string => `files/previews/${page}.png`;

const box = (style: CSSProperties, ...children: ReactNode[]) =>
  createElement('div', { style: { display: 'flex', ...style } }, ...children);

/** The bars of the logo. */
const logo = box(
  { alignItems: 'flex-end', gap: 6 },
  ...(
    [
      ['#2d4ed8', 22],
      ['#17191e', 44],
      ['#c78420', 32],
    ] as const
  ).map(([background, height]) => box({ background, width: 12, height, borderRadius: 3 })),
);

async function draw(group: string, title: string, description: string): Promise<Buffer> {
  const page = box(
    { flexDirection: 'column', flexGrow: 1, padding: 80, background: '#fafaf8', color: '#17191e' },
    box({ alignItems: 'flex-end', gap: 20, fontSize: 40 }, logo, 'caller-stats'),
    box({ marginTop: 100, fontSize: 32, color: '#696e77' }, group),
    box({ marginTop: 12, fontSize: 76 }, title),
    box({ marginTop: 24, fontSize: 36, lineHeight: 1.4, color: '#4f545d' }, description),
  );
  const picture = await new ImageResponse(page, size).arrayBuffer();
  // Few colors make the file a fifth as large.
  return sharp(picture).png({ palette: true, colours: 16, dither: 0, effort: 1 }).toBuffer();
}

/** Writes the pictures of all pages into a site. */
export async function writePictures(site: string, root: string): Promise<void> {
  mkdirSync(join(site, pictureOf('.'), '..'), { recursive: true });
  for (const { text, pages } of GROUPS) {
    for (const [name, { title, description }] of Object.entries(pages)) {
      const file = join(site, pictureOf(name));
      if (name === 'index') copyFileSync(join(root, OVERVIEW), file);
      else writeFileSync(file, await draw(text, title, description));
    }
  }
}
