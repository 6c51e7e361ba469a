/** The code blocks of the docs. */
import { filesBelow, read } from '../../tidy/sources.js';

export interface Sample {
  /** Relative to the root. */
  readonly page: string;
  /** The language of the fence; may be empty. */
  readonly language: string;
  readonly code: string;
  /** The page and the first line. */
  readonly name: string;
}

const PAGES = ['README.md', 'clients/javascript/README.md', 'CONTRIBUTING.md', 'SECURITY.md'];

/** Every block of the docs, except the help texts on the page of commands, and diagrams (`text`). */
export function samples(): Sample[] {
  return [...PAGES.map(read), ...filesBelow('docs', '.md')].flatMap(({ path, text }) =>
    [...text.matchAll(/^( *)```(\w*)[^\n]*\n([\s\S]*?)^\1```/gm)]
      .map(([, indent = '', language = '', code = '']) => ({
        language,
        // A block of a list is indented.
        code: code.replaceAll(new RegExp(`^${indent}`, 'gm'), ''),
      }))
      .filter(({ language }) => language !== 'text')
      .filter(({ code }) => path !== 'docs/reference/commands.md' || !code.startsWith('Usage: '))
      .map((block) => ({ page: path, ...block, name: `${path}: ${block.code.split('\n')[0]}` })),
  );
}

/** The variables that a page exports. */
export function variablesIn(page: string): Readonly<Record<string, string>> {
  const [, code = ''] = /^```sh\n(export [\s\S]*?)^```/m.exec(page) ?? [];
  return Object.fromEntries(
    [...code.matchAll(/(\w+)=(\S+)/g)].map(([, name = '', value = '']) => [name, value]),
  );
}

export interface Step {
  readonly command: string;
  /** The output, if the page shows it. */
  readonly output: string | undefined;
}

/** The commands of a block: those after `$` with their outputs, or the whole block. */
export function stepsOf(code: string): Step[] {
  if (!/^\$ /m.test(code)) return [{ command: code, output: undefined }];
  return code
    .split(/^\$ /m)
    .filter((part) => part !== '')
    .map((part) => {
      const lines = part.trimEnd().split('\n');
      const end = lines.findIndex((line) => !/[\\|]$/.test(line)) + 1;
      return { command: lines.slice(0, end).join('\n'), output: lines.slice(end).join('\n') };
    });
}
