/** `caller-stats doctor`: checks the settings and the machine of a server, and never changes the database. */
import { versions } from 'node:process';
import type { Command } from 'commander';
import { formatQuantity } from '../../domain/format.js';
import { ZONE_DATA_ORIGIN } from '../../domain/time/time-zone.js';
import type { Io } from '../io.js';
import { readServerSettings } from '../settings/server-settings.js';
import { settingOption } from '../settings/settings.js';
import { unknownVariables } from '../settings/unknown-variables.js';
import { addAction, howToName, missingDefault } from '../store-command.js';
import { checkDatabase } from './database-checks.js';
import { type Finding, judgeNode } from './findings.js';
import { checkNetwork } from './network-checks.js';

const FLAGS = ['host', 'port', 'database', 'publicUrl', 'basePath', 'secretFile'] as const;

export function addDoctorCommand(program: Command, io: Io): void {
  const command = program
    .command('doctor')
    .description(
      'checks folder, permissions, disk, database, clock, secret, port, public URL and time zones of a server, and says ' +
        'what to do; never changes the database; exits with status 1 if there is a problem',
    );
  for (const name of FLAGS) command.addOption(settingOption(name));
  command.addHelpText('after', '\nReads all other settings of serve from the environment.');
  addAction(command, io, 'print the findings as JSON', async (options: object) => {
    const settings = readServerSettings(options, io.env);
    const found = await Promise.all([
      checkDatabase(settings, io.clock.now()),
      checkNetwork(settings, io.clock),
    ]);
    const findings = [
      ...checkSettings(options, io),
      ...found.flat(),
      judgeNode(versions.node, io.clock.now()) ?? [],
      // Never a problem: they do not depend on the machine.
      { check: 'time zones', status: 'ok', message: ZONE_DATA_ORIGIN } as const,
    ].flat();
    const problems = findings.filter(({ status }) => status === 'problem').length;
    return {
      json: { findings },
      text: [...findings.flatMap(describe), summary(problems)],
      failed: problems > 0,
    };
  });
}

/** Settings without effect, and none where a service has some. */
function checkSettings(options: object, { env }: Io): Finding[] {
  const missing = missingDefault(options, env);
  const unmeant = `no database is named, and there is no ${missing}, the default in this folder`;
  return [
    ...(missing === undefined ? [] : [warning(unmeant, howToName)]),
    ...unknownVariables(env).map((message) => warning(message)),
  ];
}

const warning = (message: string, advice?: string): Finding => ({
  ...{ check: 'settings', status: 'warning', message },
  ...(advice !== undefined && { advice }),
});

function describe({ check, status, message, advice }: Finding): string[] {
  const line = `${status.padEnd(8)} ${check}: ${message}`;
  return advice === undefined ? [line] : [line, `${' '.repeat(9)}${advice}`];
}

function summary(problems: number): string {
  return problems === 0 ? 'No problem was found.' : `${formatQuantity(problems, 'problem')} found.`;
}
