/** Finds command lines in the docs and checks them against the program's commands. */
import { commands } from '../../scripts/pages/commands.js';

/** What is wrong with a command line; undefined if it is valid. */
export function findProblem(args: readonly string[]): string | undefined {
  // The longest name: `import log` before `import`.
  const found = commands()
    .toReversed()
    .find(({ name }) => `${args.join(' ')} `.startsWith(`${name} `));
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

/** The arguments of the program's command lines in a page, in blocks of code and in text. */
export function findCommandLines(text: string): string[][] {
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
    // A line that a server prints also begins with the program's name.
    return rest === undefined || rest.startsWith('listens on ') ? [] : [splitWords(rest)];
  });
}

/** Splits the first command of a shell line into words, up to a pipe, a redirection or a comment. */
function splitWords(line: string): string[] {
  const words = [...line.matchAll(/"([^"]*)"|'([^']*)'|(\S+)/g)].map(
    ([, double, single, bare]) => double ?? single ?? bare ?? '',
  );
  const end = words.findIndex((word) => /^(\||>|<|#|&&|2>|\))/.test(word));
  return end < 0 ? words : words.slice(0, end);
}
