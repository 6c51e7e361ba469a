/** Inserts each command's `--help` output into the page of commands. */
import { PassThrough } from 'node:stream';
import type { Command } from 'commander';
import type { Io } from '../../src/cli/io.js';
import { buildProgram } from '../../src/cli/program.js';

const io = { stdout: new PassThrough(), stderr: new PassThrough() } as unknown as Io;
const program = await buildProgram(io, '0');

/** Each command with an action, by its full name. */
export function commands(): { name: string; command: Command }[] {
  const below = (command: Command, prefix: string): { name: string; command: Command }[] =>
    command.commands.flatMap((one) => {
      const name = `${prefix}${one.name()}`;
      return one.commands.length > 0 ? below(one, `${name} `) : [{ name, command: one }];
    });
  return below(program, '');
}

/** Replaces the last code block of each command's section with its `--help` output. */
export function withHelp(page: string): string {
  const all = new Map(commands().map((one) => [one.name, one.command]));
  return page
    .split(/^(?=## )/m)
    .map((section) => {
      const [, title = ''] = /^## `caller-stats ([a-z -]+?)(?: [A-Z.]+)*`\n/.exec(section) ?? [];
      const command = all.get(title);
      if (command === undefined) return section;
      const prose = section.replace(/\n<details>[\s\S]*$/, '\n').trimEnd();
      const summary = `<details>\n<summary>caller-stats ${title} --help</summary>`;
      return `${prose}\n\n${summary}\n\n\`\`\`txt\n${helpOf(command)}\n\`\`\`\n\n</details>\n\n`;
    })
    .join('')
    .replace(/\n+$/, '\n');
}

/** The help for a terminal of 100 columns, including appended text. */
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
