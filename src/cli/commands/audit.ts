/** `caller-stats audit`: who changed what, when, and from where. */

import { type Command, Option } from 'commander';
import { parseDateRange } from '../../domain/counting/date-range.js';
import { formatTime } from '../../domain/format.js';
import { auditEntriesMax } from '../../domain/limits.js';
import {
  AUDIT_ACTIONS,
  type AuditAction,
  type AuditEntry,
  type AuditFilter,
} from '../../domain/people/audit.js';
import type { Store } from '../../storage/ports/store.js';
import { type Io, UsageError } from '../io.js';
import { settingOption } from '../settings/settings.js';
import { organizationOption, readStoreSettings, runOnStore } from '../store-options.js';
import { printJson, printTable } from '../terminal/output.js';

interface AuditOptions {
  readonly organization: string;
  readonly from?: string;
  readonly to?: string;
  readonly actor?: string;
  readonly action?: AuditAction;
  readonly target?: string;
  readonly json?: boolean;
}

export function addAuditCommand(program: Command, io: Io): void {
  program
    .command('audit')
    .description('prints the audit log, newest entry first: who changed what, when, and from where')
    .option('--from <date>', 'from this time on: a date or an ISO 8601 date-time, in UTC unless it says')
    .option('--to <date>', 'before this time')
    .option('--actor <name>', 'by this actor: command line, first start, leak report, or an e-mail address')
    .addOption(new Option('--action <action>', 'of this kind').choices(AUDIT_ACTIONS))
    .option('--target <id>', 'about what has this id or e-mail address')
    .addOption(organizationOption())
    .addOption(settingOption('database'))
    .option('--json', 'print the entries as JSON')
    .action(async (options: AuditOptions) => {
      const range = parseDateRange(options, { from: '--from', to: '--to' });
      if (!range.ok) throw new UsageError(range.problems);
      const settings = readStoreSettings(options, io);
      const entries = await runOnStore(settings, (store) =>
        readAll(store, options.organization, { ...range.value, ...filterOf(options) }),
      );
      const rows = entries.map(({ at, ...entry }) => ({ at: formatTime(at), ...entry }));
      if (options.json) return printJson(io.stdout, rows);
      printTable(
        io.stdout,
        ['AT', 'ACTOR', 'FROM', 'ACTION', 'WHAT', 'DETAIL'],
        rows.map((row) => [row.at, row.actor, row.address ?? '', row.action, row.targetId, row.detail]),
      );
    });
}

function filterOf({ actor, action, target }: AuditOptions): Omit<AuditFilter, 'limit'> {
  return {
    ...(actor === undefined ? {} : { actor }),
    ...(action === undefined ? {} : { action }),
    ...(target === undefined ? {} : { targetId: target }),
  };
}

/** All entries that fit, a page at a time. */
async function readAll(
  store: Store,
  organizationId: string,
  filter: Omit<AuditFilter, 'limit'>,
): Promise<AuditEntry[]> {
  const entries: AuditEntry[] = [];
  for (;;) {
    const last = entries.at(-1);
    const page = await store.readAudit(organizationId, {
      ...filter,
      ...(last === undefined ? {} : { before: last.number }),
      limit: auditEntriesMax,
    });
    entries.push(...page);
    if (page.length < auditEntriesMax) return entries;
  }
}
