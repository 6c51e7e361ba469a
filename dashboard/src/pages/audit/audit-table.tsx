/** Entries of the audit log. */
import { Link } from 'wouter';
import type { AuditEntry } from '../../api/types.js';
import { type Column, Table } from '../../components/content/table.js';
import { Time } from '../../components/content/time.js';
import { actionName } from './actions.js';

export function AuditTable({ entries }: { entries: readonly AuditEntry[] }) {
  const columns: Column<AuditEntry>[] = [
    { head: 'What happened', kind: 'name', cell: (entry) => <What entry={entry} /> },
    { head: 'Who', cell: (entry) => <Who entry={entry} /> },
    { head: 'When', cell: ({ at }) => <Time at={at} /> },
  ];
  return (
    <div className="card">
      <Table caption="Audit log" columns={columns} rows={entries} rowKey={({ number }) => number} />
    </div>
  );
}

function What({ entry: { action, targetId, detail } }: { entry: AuditEntry }) {
  return (
    <span className="audit-what">
      <span className="row">
        <span className="audit-action">{actionName(action)}</span>
        <Link
          href={`/audit?target=${encodeURIComponent(targetId)}`}
          className="audit-link"
          title="Only entries about this"
        >
          {targetId}
        </Link>
      </span>
      {detail !== '' && <span className="check-hint">{detail}</span>}
    </span>
  );
}

function Who({ entry: { actor, address } }: { entry: AuditEntry }) {
  return (
    <span className="audit-who">
      <Link
        href={`/audit?actor=${encodeURIComponent(actor)}`}
        className="audit-link"
        title="Only entries of this actor"
      >
        {actor}
      </Link>
      {address !== null && <span className="check-hint numbers">{address}</span>}
    </span>
  );
}
