/** Why something was refused or is doubtful, and what its senders do about it. */
import type { Ingestion, IngestionSource } from '../../api/types.js';
import { DocsLink } from '../../components/content/docs-link.js';
import { Section } from '../../components/content/page.js';
import { type Column, Table } from '../../components/content/table.js';
import { Time } from '../../components/content/time.js';
import { count } from '../../format/numbers.js';
import { sourceId } from './sources-table.js';

type Refusal = IngestionSource['refusals'][number];
type Row = Refusal & { readonly source: IngestionSource };

export function Refusals({ report }: { report: Ingestion }) {
  const rows = report.sources
    .flatMap((source): Row[] => source.refusals.map((one) => ({ ...one, source })))
    .toSorted((one, other) => (one.lastAt < other.lastAt ? 1 : -1));
  if (rows.length === 0) return null;
  const columns: Column<Row>[] = [
    {
      head: 'Source',
      kind: 'name',
      cell: ({ source, key }) => (
        <span className="source-name">
          <span>{source.name}</span>
          {key !== null && <span className="quiet small">Key {key}</span>}
        </span>
      ),
    },
    { head: 'Why', cell: ({ message }) => message },
    { head: 'What to do', cell: remedyOf },
    { head: 'How many', cell: (row) => refusedInWords(row) },
    { head: 'Last', cell: ({ lastAt }) => <Time at={lastAt} /> },
  ];
  return (
    <Section
      title="Refused or doubtful"
      lead={
        <>
          What was refused in the last seven days, and is not counted unless its sender repeated it, and what
          counts although it is doubtful: <DocsLink page="not-arriving">my queries do not arrive</DocsLink>.
        </>
      }
    >
      <div className="card source-refusals">
        <Table
          caption="Refused or doubtful"
          columns={columns}
          rows={rows}
          rowKey={({ source, reason, key }) => `${sourceId(source)} ${reason} ${key}`}
        />
      </div>
    </Section>
  );
}

const SECTIONS: { readonly [Reason in Refusal['reason']]?: string } = {
  'no-header': 'the-caller-of-a-question',
  'many-in-trace': 'what-is-one-question',
};

function remedyOf({ reason, remedy }: Refusal) {
  const section = SECTIONS[reason];
  if (section === undefined) return remedy;
  return (
    <>
      {remedy} <DocsLink page={`opentelemetry#${section}`}>OpenTelemetry</DocsLink>
    </>
  );
}

/** `12 requests and 3 records`. */
export function refusedInWords({ requests, records }: Pick<Refusal, 'requests' | 'records'>): string {
  const parts = [
    requests === 1 ? '1 request' : requests > 0 ? `${count(requests)} requests` : '',
    records === 1 ? '1 record' : records > 0 ? `${count(records)} records` : '',
  ];
  return parts.filter(Boolean).join(' and ');
}
