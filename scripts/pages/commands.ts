/** Inserts each command's `--help` output into the page of commands. */
import { PassThrough } from 'node:stream';
import { type Argument, type Command, Help, type Option } from 'commander';
import type { Io } from '../../src/cli/io.js';
import { buildProgram } from '../../src/cli/program.js';

const io = { stdout: new PassThrough(), stderr: new PassThrough() } as unknown as Io;
const program = await buildProgram(io, '0');

/** Each command with an action, by its full name. */
export function commands(): { name: string; command: Command }[] {
  const below = (command: Command, prefix: string): { name: string; command: Command }[] =>
    command.commands.flatMap((one) => {
      const name = `${prefix}${one.name()}`;
      // A command with commands of its own may also be one itself, such as `import`.
      const itself =
        one.commands.length === 0 || one.registeredArguments.length > 0 ? [{ name, command: one }] : [];
      return [...itself, ...below(one, `${name} `)];
    });
  return below(program, '');
}

/** Those of the page: without those of servers with several organizations, which have help of their own. */
export function listedCommands(): ReturnType<typeof commands> {
  return commands().filter(({ name }) => !name.startsWith('organization '));
}

/** Replaces the last code block of each command's section with its `--help` output. */
export function withHelp(page: string): string {
  const all = new Map(commands().map((one) => [one.name, one.command]));
  return page
    .split(/^(?=## )/m)
    .map((section) => {
      const [heading = '', title = ''] = /^## `caller-stats ([a-z -]+?)(?: [A-Z.]+)*`\n/.exec(section) ?? [];
      const command = all.get(title);
      if (command === undefined) return section;
      const prose = section
        .slice(heading.length)
        .replace(/```txt\n[\s\S]*$/, '')
        .trim();
      return [
        heading.trimEnd(),
        ...(prose === '' ? [] : [prose]),
        `\`\`\`txt\n${helpOf(command)}\n\`\`\``,
        '',
      ].join('\n\n');
    })
    .join('')
    .replace(/\n+$/, '\n');
}

/** What the top of the page says of all commands that have it. Settings are on a page of their own. */
const COMMON = ['--json', '--help', '--organization', '--url', '--csv'];

/** What the top of the page says of the commands that read a range. */
const OF_RANGES = ['--from', '--to', '--period', '--time-zone', '--week-start'];

/** What the top of the page says of the commands that choose queries. */
const OF_SELECTIONS = ['--caller', '--from', '--to', '--recorded-since', '--recorded-to', '--recorded-by'];

/** What `import` says of the commands below it as well. */
const OF_IMPORTS = ['--project', '--caller', '--strict', '--dry-run'];

/** The options of a command that the page describes elsewhere. */
function elsewhere(command: Command): readonly string[] {
  if (command.parent?.name() === 'import') return [...COMMON, ...OF_IMPORTS];
  return [
    ...COMMON,
    ...(['stats', 'changes', 'export'].includes(command.name()) ? OF_RANGES : []),
    ...(['export', 'correct'].includes(command.name()) ? OF_SELECTIONS : []),
  ];
}

const isElsewhere = (command: Command, { long, description }: Option): boolean =>
  elsewhere(command).includes(long ?? '') ||
  // Settings, and the page about OpenTelemetry, which has these with the same words.
  description.includes('(env: ') ||
  long?.startsWith('--otlp-') === true;

/** What the top of the page says of all ids, and what has a section of its own. */
const isListed = ({ description }: Argument): boolean => /^its id, from \w+ list$/.test(description);

/** So many choices are an index, which `--help` has. */
const choicesMax = 12;

/** The help for a terminal of 100 columns, without what the page describes once. */
function helpOf(command: Command): string {
  command.configureHelp({
    helpWidth: 100,
    visibleArguments: ({ registeredArguments }) => registeredArguments.filter((one) => !isListed(one)),
    visibleCommands: () => [],
    optionDescription: (option) =>
      (option.argChoices?.length ?? 0) > choicesMax
        ? option.description
        : new Help().optionDescription(option),
    visibleOptions: ({ options }) =>
      options.filter((option) => !option.hidden && !isElsewhere(command, option)),
  });
  // Without what `--help` adds at its end, which the guides say.
  const text = command.helpInformation();
  // The heading says how to call it.
  return text.replace(/^Usage: .*\n\n/, '').trimEnd();
}
