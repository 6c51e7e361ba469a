/** What records without a rule are, and the settings that would accept them. */
import type { Ingestion, IngestionSource, IngestionWindow } from '../../api/types.js';
import { Copied } from '../../components/content/copy-button.js';
import { Section } from '../../components/content/page.js';
import { type Column, Table } from '../../components/content/table.js';
import { count } from '../../format/numbers.js';
import { sourceId, type WindowField } from './sources-table.js';

type Value = IngestionWindow['unmatchedValues'][number];

interface UnmatchedProps {
  readonly report: Ingestion;
  readonly window: WindowField;
}

export function Unmatched({ report, window }: UnmatchedProps) {
  const sources = report.sources.filter((source) => source[window].unmatched > 0);
  if (sources.length === 0) return null;
  return (
    <Section
      title="No rule"
      lead={
        <>
          Spans and log records that match no rule are dropped. Most belong to questions that others of them
          record, and need no rule. If one of these marks a question that nothing else records, set the rules
          of the server to the text beside it. Now they are{' '}
          <code>--otlp-query &quot;{report.otlpQuery}&quot;</code>
        </>
      }
    >
      {sources.map((source) => (
        <Values key={sourceId(source)} source={source} window={window} />
      ))}
    </Section>
  );
}

function Values({ source, window }: { source: IngestionSource; window: WindowField }) {
  const { unmatchedValues } = source[window];
  const columns: Column<Value>[] = [
    {
      head: 'What it says it is',
      kind: 'name',
      cell: ({ attribute, value }) => (
        <code>
          {attribute}={value}
        </code>
      ),
    },
    { head: 'Records', kind: 'number', cell: (value) => count(value.count) },
    { head: 'Rules that accept it', cell: (value) => <Rules {...value} /> },
  ];
  if (unmatchedValues.length === 0)
    return (
      <p className="quiet">
        {source.name}: none of its {count(source[window].unmatched)} records has an attribute that names an
        operation.
      </p>
    );
  return (
    <div className="card source-values">
      <Table
        caption={`${source.name}, ${source.kind}`}
        isCaptionSeen
        columns={columns}
        rows={unmatchedValues}
        rowKey={({ attribute, value }) => `${attribute}=${value}`}
      />
    </div>
  );
}

function Rules({ attribute, value, otlpQuery }: Value) {
  if (otlpQuery === null) return <span className="quiet">None needed</span>;
  return <Copied text={otlpQuery} label={`Copy rules with ${attribute}=${value}`} />;
}
