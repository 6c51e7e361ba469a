/** `caller-stats audit`: who changed what, when, and from where. */
import { type Command, Option } from 'commander';
import { parseAuditFilter, readAllAudit } from '../../app/audit.js';
import { AUDIT_ACTIONS } from '../../domain/people/audit.js';
import type { Io } from '../io.js';
import { addStoreAction, requireValue } from '../store-command.js';
import { formatTable } from '../terminal/output.js';

export function addAuditCommand(program: Command, io: Io): void {
  const command = program
    .command('audit')
    .description('prints the audit log, newest entry first: who changed what, when, and from where')
    .option(
      '--from <date>',
      'from this time on: a date or an ISO 8601 date-time, in UTC unless it has an offset',
    )
    .option('--to <date>', 'before this time')
    .option('--actor <name>', 'by this actor: command line, first start, leak report, or an e-mail address')
    .addOption(new Option('--action <action>', 'with this action, such as key.create').choices(AUDIT_ACTIONS))
    .option('--target <id>', 'about the thing with this id, or the person with this e-mail address');
  addStoreAction(command, io, {
    json: 'print the entries as JSON',
    parse: (options: Parameters<typeof parseAuditFilter>[0]) =>
      requireValue(parseAuditFilter(options, { from: '--from', to: '--to' }), ''),
    run: async ({ store, organizationId, input }) => {
      const json = await readAllAudit(store, organizationId, input);
      const rows = json.map((row) => [
        row.at,
        row.actor,
        row.address ?? '',
        row.action,
        row.targetId,
        row.detail,
      ]);
      return { json, text: formatTable(['AT', 'ACTOR', 'FROM', 'ACTION', 'WHAT', 'DETAIL'], rows) };
    },
  });
}
