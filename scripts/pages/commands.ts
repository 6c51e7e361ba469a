/** What the page of commands has of the program itself: each command's `--help`, below what the page says of it. */
import { PassThrough } from 'node:stream';
import type { Command } from 'commander';
import type { Io } from '../../src/cli/io.js';
import { buildProgram } from '../../src/cli/program.js';

const io = { stdout: new PassThrough(), stderr: new PassThrough() } as unknown as Io;
const program = await buildProgram(io, '0', () => {});

/** Each command that does something, by its full name. */
export function commands(): { name: string; command: Command }[] {
  const below = (command: Command, prefix: string): { name: string; command: Command }[] =>
    command.commands.flatMap((one) => {
      const name = `${prefix}${one.name()}`;
      return one.commands.length > 0 ? below(one, `${name} `) : [{ name, command: one }];
    });
  return below(program, '');
}

/** The page with what each command prints for `--help` as the last block of code of its section. */
export function withHelp(page: string): string {
  const all = new Map(commands().map((one) => [one.name, one.command]));
  return page
    .split(/^(?=## )/m)
    .map((section) => {
      const [, title = ''] = /^## `caller-stats ([a-z -]+?)(?: [A-Z.]+)?`\n/.exec(section) ?? [];
      const command = all.get(title);
      if (command === undefined) return section;
      const prose = section.replace(/\n<details>[\s\S]*$/, '\n').trimEnd();
      const summary = `<details>\n<summary>caller-stats ${title} --help</summary>`;
      return `${prose}\n\n${summary}\n\n\`\`\`txt\n${helpOf(command)}\n\`\`\`\n\n</details>\n\n`;
    })
    .join('')
    .replace(/\n+$/, '\n');
}

/** As on a terminal that is 100 characters wide, with whatever the command puts behind it. */
function helpOf(command: Command): string {
  let text = '';
  command.configureOutput({
    writeOut: (part) => {
      text += part;
    },
    getOutHelpWidth: () => 100,
    getOutHasColors: () => false,
  });
  command.outputHelp();
  return text.trimEnd();
}
