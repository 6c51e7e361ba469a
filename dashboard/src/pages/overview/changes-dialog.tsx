/** Why a total has changed: what was counted then, everything that happened since, and what it adds up to now. */
import { useQuery } from '@tanstack/react-query';
import { useState } from 'react';
import type { ChangeCause } from '../../../../src/domain/history/timeline.js';
import { CALLER_TYPE_NAMES, CALLER_TYPES } from '../../../../src/domain/queries/caller.js';
import { countsOf } from '../../api/paths.js';
import { changesQuery } from '../../api/stats.js';
import type { Changes, Numbers } from '../../api/types.js';
import { DocsLink } from '../../components/content/docs-link.js';
import { type Column, Table } from '../../components/content/table.js';
import { Loaded } from '../../components/feedback/loaded.js';
import { TextField } from '../../components/forms/field.js';
import { Dialog } from '../../components/overlays/dialog.js';
import { day, rangeName } from '../../format/dates.js';
import { count, signed } from '../../format/numbers.js';
import type { CurrentProject } from '../../navigation/current-project.js';
import { addDays, dayOf, isDay } from '../../time/calendar.js';
import { now } from '../../time/clock.js';
import { type Senders, useSenders } from '../corrections/senders.js';
import '../corrections/corrections.css';

const CAUSE_NAMES: Readonly<Record<ChangeCause, string>> = {
  recorded: 'recorded since',
  recordedLate: 'recorded late',
  known: 'telemetry told more',
  imported: 'imported',
  withdrawn: 'withdrawn',
  renamed: 'renamed',
  undone: 'correction undone',
};

interface ChangesDialogProps {
  readonly current: CurrentProject;
  readonly range: Numbers['range'];
  readonly zone: string;
  readonly onClose: () => void;
}

export function ChangesDialog({ current, range, zone, onClose }: ChangesDialogProps) {
  const today = dayOf(now());
  const [since, setSince] = useState(addDays(today, -7));
  const { dateFrom, dateTo } = range;
  const ref = countsOf({ organizationId: current.organization.id, projectId: current.project.id });
  const query = useQuery(changesQuery(ref, { since, range, zone }));
  const senders = useSenders(current);
  return (
    <Dialog title="Why did this number change?" onClose={onClose} wide>
      <div className="stack">
        <p className="quiet">
          {dateFrom !== null && dateTo !== null
            ? `The queries of ${rangeName({ dateFrom, dateTo })}, of all callers. `
            : 'All queries, of all callers. '}
          <DocsLink page="changes">How exact this is</DocsLink>
        </p>
        <TextField
          label="Compared with the start of this day (UTC)"
          name="since"
          type="date"
          defaultValue={since}
          max={today}
          onChange={({ target: { value } }) => isDay(value) && setSince(value)}
        />
        <div role="status" className="stack">
          <Loaded query={query} what="The changes" rows={4}>
            {(changes) => <ChangesList changes={changes} senders={senders} />}
          </Loaded>
        </div>
      </div>
    </Dialog>
  );
}

interface Row {
  readonly what: string;
  readonly by: string;
  readonly number: string;
}

function ChangesList({ changes, senders }: { changes: Changes; senders: Senders | undefined }) {
  const { since, before, difference, otherChanges } = changes;
  const then = day(since, 'UTC');
  if (changes.changes.length === 0 && otherChanges.total === 0)
    return (
      <p>
        Nothing has changed since {then}: it was {count(before.total)} then.
      </p>
    );
  const others: Row = { what: 'All other changes', by: '', number: signed(otherChanges.total) };
  const rows: readonly Row[] = [
    { what: `On ${then}`, by: '', number: count(before.total) },
    ...changes.changes.map(({ cause, caller, by, reason, count: queries }) => ({
      what: `${caller}, ${CAUSE_NAMES[cause]}`,
      by: [senderName(by, senders), reason ?? []].flat().join(': '),
      number: signed(queries),
    })),
    ...(CALLER_TYPES.some((type) => otherChanges[type] !== 0) ? [others] : []),
    { what: 'Now', by: '', number: count(changes.now.total) },
  ];
  const columns: Column<Row>[] = [
    {
      head: 'What',
      kind: 'name',
      cell: ({ what, by }) => (
        <span className="corrections-what">
          <span className="corrections-title">{what}</span>
          {by !== '' && <span className="check-hint">{by}</span>}
        </span>
      ),
    },
    { head: 'Queries', kind: 'number', cell: ({ number }) => number },
  ];
  return (
    <>
      <p>
        <strong>{signed(difference.total)}</strong> since {then}:{' '}
        {CALLER_TYPES.map((type) => `${CALLER_TYPE_NAMES[type]} ${signed(difference[type])}`).join(', ')}.
      </p>
      <Table
        caption="What it adds up from"
        columns={columns}
        rows={rows}
        rowKey={(row) => rows.indexOf(row)}
        keepsColumns
      />
    </>
  );
}

/** `key:ID` and `telemetry:ID:SERVICE` by their names. Others say it themselves. */
function senderName(by: string, senders: Senders | undefined): string {
  const service = /^telemetry:[^:]+:(.*)$/s.exec(by)?.[1];
  return senders?.get(service === undefined ? by : `telemetry:${service}`) ?? by;
}
