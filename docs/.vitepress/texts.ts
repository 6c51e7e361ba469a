/** The site for programs: each page as Markdown, and `llms.txt` with a list of them. */
import { readFileSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { siteLink } from './links.js';
import { existingPages } from './pages.js';

/** A page of the repository with the links of the site, in which all pages are in one folder. */
function toSiteText(text: string, source: string): string {
  const parts = text.split(/(^```[\s\S]*?^```)/m);
  const prose = (part: string) =>
    part
      .replaceAll(/!\[([^\]]*)\]\([^)]*\)/g, (_all, label: string) => `*${label}*`)
      .replaceAll(
        /\]\(([^)\s]+)\)/g,
        (_all, href: string) => `](${siteLink(href, source).replace(/^(\.\/|\/(?=files\/))/, '')})`,
      );
  return parts.map((part, index) => (index % 2 === 0 ? prose(part) : part)).join('');
}

/** Writes the texts beside the pages. `site` is the address of the site, with a slash at its end. */
export function writeTexts(
  folder: string,
  { root, site, summary }: { readonly root: string; readonly site: string; readonly summary: string },
): void {
  const pages = existingPages();
  for (const { name, source } of pages) {
    const text = readFileSync(join(root, source), 'utf8');
    writeFileSync(join(folder, `${name}.md`), toSiteText(text, source));
  }
  const list = pages.map(({ name, title, description }) => `- [${title}](${site}${name}.md): ${description}`);
  writeFileSync(
    join(folder, 'llms.txt'),
    ['# caller-stats', '', `> ${summary}`, '', '## Pages', '', ...list, ''].join('\n'),
  );
}
