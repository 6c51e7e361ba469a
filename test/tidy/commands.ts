/** Command lines in the docs, held against the commands of the program. */
import { commands } from '../../scripts/pages/commands.js';

/** What is wrong with a command line, by the program's own definitions; undefined where nothing is. */
export function problemWith(args: readonly string[]): string | undefined {
  const found = commands().find(({ name }) => `${args.join(' ')} `.startsWith(`${name} `));
  if (found === undefined) return 'there is no such command';
  const { name, command } = found;
  try {
    const { operands, unknown } = command.parseOptions(args.slice(name.split(' ').length));
    const mistyped = unknown.find((one) => one.startsWith('-') && one !== '--help');
    if (mistyped !== undefined) return `${name} has no option ${mistyped}`;
    const { registeredArguments: takes } = command;
    if (operands.length > takes.length && !takes.some(({ variadic }) => variadic))
      return `${name} does not take ${operands[takes.length]}`;
    return undefined;
  } catch (error) {
    return (error as Error).message;
  }
}

/** The program's command lines in a page: in blocks of code, and in the middle of text. Each as its arguments. */
export function commandLinesOf(text: string): string[][] {
  const blocks = [...text.matchAll(/^```\w*\n([\s\S]*?)^```/gm)].map(([, code = '']) => code);
  const lines = blocks.flatMap((code) => {
    const all = code.replaceAll(/\\\n\s*/g, '').split('\n');
    const prompted = all.filter((line) => line.startsWith('$ '));
    return prompted.length > 0 ? prompted : all;
  });
  const spans = [...text.replaceAll(/^```\w*\n[\s\S]*?^```/gm, '').matchAll(/`([^`\n]+)`/g)].map(
    ([, code = '']) => code,
  );
  return [...lines, ...spans].flatMap((line) => {
    const [, rest] = /^(?:\$ )?(?:.* -- )?(?:caller-stats|node \S*dist\/main\.js) (.+)$/.exec(line) ?? [];
    // What a server prints begins with the program's name, too.
    return rest === undefined || rest.startsWith('listens on ') ? [] : [wordsOf(rest)];
  });
}

/** The words of one command of a shell line, up to a pipe, a redirection or a comment; quotes hold a word together. */
function wordsOf(line: string): string[] {
  const words = [...line.matchAll(/"([^"]*)"|'([^']*)'|(\S+)/g)].map(
    ([, double, single, bare]) => double ?? single ?? bare ?? '',
  );
  const end = words.findIndex((word) => /^(\||>|<|#|&&|2>|\))/.test(word));
  return end < 0 ? words : words.slice(0, end);
}
