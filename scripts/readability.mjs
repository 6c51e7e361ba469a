/**
 * `node scripts/readability.mjs` prints the words of each page of the docs and how easy its prose is to read; with folders or files
 * as arguments, those of other docs, to compare. Only prose counts: no code, tables, headings or pictures.
 */
import { Console } from 'node:console';
import { readdirSync, readFileSync, statSync } from 'node:fs';
import { join } from 'node:path';
import readability from 'text-readability';

/** Pages that tests or benchmarks generate, or that are lists. */
const GENERATED = /(^|\/)(api|commands|walk)\.md$/;

/** The sentences of a Markdown page. */
function proseOf(markdown) {
  return (
    markdown
      .replace(/^---\n[\s\S]*?\n---\n/, '')
      .replaceAll(/^( *)(```|~~~)[\s\S]*?^\1\2/gm, '')
      .replaceAll(/<!--[\s\S]*?-->/g, '')
      .replaceAll(/^(import|export) .*$/gm, '')
      .replaceAll(/^(#|\||:::|<).*$/gm, '')
      .replaceAll(/!\[[^\]]*\]\([^)]*\)/g, '')
      .replaceAll(/\[([^\]]*)\](\([^)]*\)|\[[^\]]*\])/g, '$1')
      // One short word for code, which is not prose.
      .replaceAll(/`+[^`]+`+/g, 'code')
      .replaceAll(/<[^>]+>/g, '')
      .replaceAll(/https?:\S+/g, 'link')
      .replaceAll(/^\s*(?:[-*+]|\d+\.)\s+/gm, '\n')
      .replaceAll(/[*_]{1,3}(\S[^*_]*)[*_]{1,3}/g, '$1')
      .split(/\n\s*\n/)
      .map((block) => block.replaceAll(/\s+/g, ' ').trim())
      .filter((block) => /\w \w/.test(block))
      .map((block) => (/[.!?]$/.test(block) ? block : `${block.replace(/[:;,]$/, '')}.`))
      .join(' ')
  );
}

function pagesBelow(path) {
  if (!statSync(path).isDirectory()) return [path];
  return readdirSync(path, { recursive: true })
    .map((name) => join(path, name))
    .filter((name) => /\.mdx?$/.test(name) && !name.includes('node_modules') && !GENERATED.test(name))
    .sort();
}

function measure(text) {
  const words = readability.lexiconCount(text, true);
  return {
    words,
    'words per sentence': Math.round((words / readability.sentenceCount(text)) * 10) / 10,
    'reading ease': Math.round(readability.fleschReadingEase(text) * 10) / 10,
    grade: Math.round(readability.fleschKincaidGrade(text) * 10) / 10,
  };
}

const paths = process.argv.length > 2 ? process.argv.slice(2) : ['README.md', 'docs'];
const pages = paths.flatMap(pagesBelow).map((path) => {
  const markdown = readFileSync(path, 'utf8');
  return { path, all: markdown.split(/\s+/).length, prose: proseOf(markdown) };
});
const measured = pages.filter(({ prose }) => prose.split(' ').length >= 30);
new Console(process.stdout).table(
  Object.fromEntries([
    ...measured.map(({ path, all, prose }) => [path, { all, ...measure(prose) }]),
    [
      'all of them',
      {
        all: pages.reduce((sum, { all }) => sum + all, 0),
        ...measure(measured.map(({ prose }) => prose).join(' ')),
      },
    ],
  ]),
);
