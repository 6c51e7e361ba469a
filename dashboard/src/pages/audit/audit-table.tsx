/** Entries of the audit log. */
import { useQuery } from '@tanstack/react-query';
import { Link } from 'wouter';
import { keysQuery } from '../../api/keys.js';
import { projectsQuery } from '../../api/projects.js';
import type { AuditEntry, Organization } from '../../api/types.js';
import { type Column, Table } from '../../components/content/table.js';
import { Time } from '../../components/content/time.js';
import { actionName } from './actions.js';

interface AuditTableProps {
  readonly organization: Organization;
  readonly entries: readonly AuditEntry[];
}

export function AuditTable({ organization, entries }: AuditTableProps) {
  const names = useNames(organization);
  const columns: Column<AuditEntry>[] = [
    {
      head: 'What happened',
      kind: 'name',
      cell: (entry) => <What entry={entry} name={names.get(entry.targetId)} />,
    },
    { head: 'Who', cell: (entry) => <Who entry={entry} /> },
    { head: 'When', cell: ({ at }) => <Time at={at} /> },
  ];
  return (
    <div className="card">
      <Table caption="Audit log" columns={columns} rows={entries} rowKey={({ number }) => number} />
    </div>
  );
}

/** The names of the organization's present projects and keys, by id. */
function useNames({ id, name }: Organization): ReadonlyMap<string, string> {
  const { data: listed } = useQuery(projectsQuery(id));
  const { data: created } = useQuery(keysQuery(id));
  const named = [{ id, name }, ...(listed?.projects ?? []), ...(created?.keys ?? [])];
  return new Map(named.map((one) => [one.id, one.name]));
}

interface WhatProps {
  readonly entry: AuditEntry;
  /** The present name of what was changed; undefined if it has none, or is deleted. */
  readonly name: string | undefined;
}

function What({ entry: { action, targetId, detail }, name }: WhatProps) {
  // The detail of what has no present name, such as a share link or a deleted project, begins with its former name.
  const isIdLast = name === undefined && detail !== '' && !targetId.includes('@');
  const target = (
    <Link
      href={`/audit?target=${encodeURIComponent(targetId)}`}
      className="audit-link"
      title="Only entries about this"
    >
      {isIdLast ? <code className="small">{targetId}</code> : (name ?? targetId)}
    </Link>
  );
  return (
    <span className="audit-what">
      <span className="row">
        <span className="audit-action">{actionName(action)}</span>
        {isIdLast ? detail : target}
        {name !== undefined && name !== targetId && <code className="quiet small">{targetId}</code>}
      </span>
      {isIdLast ? target : detail !== '' && detail !== name && <span className="check-hint">{detail}</span>}
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
