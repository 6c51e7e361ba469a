/** The table of keys. */
import { roleAllows } from '../../../../src/domain/people/member.js';
import type { Key, KeyType } from '../../api/types.js';
import { type Column, Table } from '../../components/content/table.js';
import { Time } from '../../components/content/time.js';
import { Badge } from '../../components/feedback/badge.js';
import { day } from '../../format/dates.js';
import type { CurrentProject } from '../../navigation/current-project.js';
import { useNow } from '../../time/use-now.js';
import { KeyActions, type KeyDialogRequest } from './key-actions.js';
import { isInUse, keyExpiry } from './key-order.js';

interface KeysTableProps {
  readonly current: CurrentProject;
  readonly keys: readonly Key[];
  readonly caption: string;
  readonly onOpenDialog: (request: KeyDialogRequest) => void;
}

export function KeysTable({ current, keys, caption, onOpenDialog }: KeysTableProps) {
  const columns: Column<Key>[] = [
    { head: 'Name', kind: 'name', cell: (key) => <Name apiKey={key} /> },
    { head: 'Type', cell: (key) => <Type apiKey={key} /> },
    { head: 'Expires', cell: (key) => <Expires apiKey={key} /> },
    {
      head: 'Last used',
      cell: ({ lastUsedAt }) => (lastUsedAt === null ? 'Never' : <Time at={lastUsedAt} />),
    },
    { head: 'Created by', cell: (key) => <CreatedBy apiKey={key} /> },
  ];
  const actions: Column<Key> = {
    head: 'Actions',
    kind: 'actions',
    cell: (key) =>
      isInUse(key) ? (
        <KeyActions organizationId={current.organization.id} apiKey={key} onOpenDialog={onOpenDialog} />
      ) : null,
  };
  return (
    <div className="card">
      <Table
        caption={caption}
        columns={roleAllows(current.organization.role, 'editor') ? [...columns, actions] : columns}
        rows={keys}
        rowKey={({ id }) => id}
        isMuted={(key) => key.status !== 'active'}
      />
    </div>
  );
}

function Name({ apiKey }: { apiKey: Key }) {
  return (
    <span className="key-name">
      <span>
        {apiKey.name} <StatusBadge apiKey={apiKey} />
      </span>
      <code className="key-ends">
        {apiKey.start}…{apiKey.end}
      </code>
    </span>
  );
}

function StatusBadge({ apiKey: { status, successor } }: { apiKey: Key }) {
  switch (status) {
    case 'disabled':
      return <Badge kind="warn">Disabled</Badge>;
    case 'revoked':
      return <Badge kind="danger">Revoked</Badge>;
    case 'expired':
      return <Badge>Expired</Badge>;
    case 'active':
      return successor === null ? null : <Badge kind="accent">Being replaced</Badge>;
  }
}

const TYPE_NAMES: Readonly<Record<KeyType, string>> = {
  admin: 'Admin',
  recording: 'Recording',
  reading: 'Reading',
};

function Type({ apiKey: { type, scopes, allow } }: { apiKey: Key }) {
  return (
    <span className="key-type">
      {TYPE_NAMES[type]}
      {type === 'admin' && <span className="quiet small">{scopes.join(', ')}</span>}
      {allow.length > 0 && <span className="quiet small">from {allow.join(', ')}</span>}
    </span>
  );
}

function Expires({ apiKey }: { apiKey: Key }) {
  const at = useNow(60_000);
  const { kind, daysLeft } = keyExpiry(apiKey, at);
  if (apiKey.expiresAt === null) return 'Never';
  if (kind === 'soon' && isInUse(apiKey))
    return (
      <Badge kind="warn">{daysLeft === 1 ? 'Expires within a day' : `Expires in ${daysLeft} days`}</Badge>
    );
  return <time dateTime={apiKey.expiresAt}>{day(apiKey.expiresAt)}</time>;
}

function CreatedBy({ apiKey: { createdBy, createdAt } }: { apiKey: Key }) {
  return (
    <span className="key-type">
      <span className="key-maker" title={createdBy}>
        {createdBy}
      </span>
      <time className="quiet small" dateTime={createdAt}>
        {day(createdAt)}
      </time>
    </span>
  );
}
