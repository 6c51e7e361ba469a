/** What records without a rule are, and the settings that would accept them. */
import { useState } from 'react';
import { Link } from 'wouter';
import { roleAllows } from '../../../../src/domain/people/member.js';
import { ingestionQuery } from '../../api/ingestion.js';
import { useProjectChange } from '../../api/projects.js';
import { queryClient } from '../../api/query-client.js';
import type { Ingestion, IngestionSource, IngestionWindow } from '../../api/types.js';
import { Copied } from '../../components/content/copy-button.js';
import { Section } from '../../components/content/page.js';
import { type Column, Table } from '../../components/content/table.js';
import { Button } from '../../components/forms/button.js';
import { ConfirmDialog } from '../../components/overlays/confirm-dialog.js';
import { count } from '../../format/numbers.js';
import { type CurrentProject, projectPage } from '../../navigation/current-project.js';
import { sourceId, type WindowField } from './sources-table.js';

type Value = IngestionWindow['unmatchedValues'][number];

interface UnmatchedProps {
  readonly report: Ingestion;
  readonly window: WindowField;
  readonly current: CurrentProject;
}

export function Unmatched({ report, window, current }: UnmatchedProps) {
  const { organization, project } = current;
  const sources = report.sources.filter((source) => source[window].unmatched > 0);
  if (sources.length === 0) return null;
  return (
    <Section
      title="No rule"
      lead={
        <>
          Spans and log records that match no rule are dropped. Those listed here belong to no question that
          was recorded. Rules are proposed to a service whose routes or events are named like questions, as
          long as no question of the project counts, after they were tried on what it sent. If it asks
          questions, set the rules of this project to the first text beside it,{' '}
          {roleAllows(organization.role, 'editor') ? (
            <>
              here or in its <Link href={projectPage(project.id, 'settings')}>settings</Link>
            </>
          ) : (
            'which an owner or editor can do'
          )}
          . Now they are <code>{report.otlpQuery}</code>.
        </>
      }
    >
      {sources.map((source) => (
        <Values key={sourceId(source)} source={source} window={window} current={current} />
      ))}
    </Section>
  );
}

function Values({ source, window, current }: Omit<UnmatchedProps, 'report'> & { source: IngestionSource }) {
  const { unmatchedValues } = source[window];
  const firstWith = ({ otlpQuery }: Value) => unmatchedValues.find((one) => one.otlpQuery === otlpQuery);
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
    {
      head: 'Rules that accept it',
      cell: (value) => <Rules value={value} first={firstWith(value)} current={current} />,
    },
  ];
  if (unmatchedValues.length === 0)
    return (
      <p className="quiet">
        {source.name}:{' '}
        {source[window].unmatched === 1
          ? 'its only record names no operation, or belongs to a question that counts.'
          : `each of its ${count(source[window].unmatched)} records names no operation, or belongs to a question that counts.`}
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

interface RulesProps {
  readonly value: Value;
  /** The first of those that the same rules accept. */
  readonly first: Value | undefined;
  readonly current: CurrentProject;
}

function Rules({ value, first, current }: RulesProps) {
  const { attribute, otlpQuery, effect } = value;
  if (otlpQuery === null) return <span className="quiet">None proposed</span>;
  if (first !== value) return <span className="quiet">The same as of {first?.value}</span>;
  const operation = `${attribute}=${value.value}`;
  return (
    <div className="source-rules">
      <Copied text={otlpQuery} label={`Copy rules with ${operation}`} />
      <span className="quiet">These rules {effect}.</span>
      {roleAllows(current.organization.role, 'editor') && (
        <UseRules operation={operation} otlpQuery={otlpQuery} current={current} />
      )}
    </div>
  );
}

interface UseRulesProps {
  readonly operation: string;
  readonly otlpQuery: string;
  readonly current: CurrentProject;
}

function UseRules({ operation, otlpQuery, current: { organization, project } }: UseRulesProps) {
  const [isAsking, setAsking] = useState(false);
  const { mutateAsync } = useProjectChange(organization.id, project.id);
  return (
    <>
      <Button onClick={() => setAsking(true)} aria-label={`Use rules with ${operation}…`}>
        Use…
      </Button>
      {isAsking && (
        <ConfirmDialog
          title={`Count ${operation}?`}
          action="Use these rules"
          kind="primary"
          done={`The rules of ${project.name} are saved`}
          onConfirm={async () => {
            await mutateAsync({ otlpQuery });
            // The other suggestions are based on the rules before, and would undo this one.
            await queryClient.invalidateQueries(
              ingestionQuery({ organizationId: organization.id, projectId: project.id }),
            );
          }}
          onClose={() => setAsking(false)}
        >
          <p>
            From the next request on, the rules of {project.name} are <code>{otlpQuery}</code>. What is
            counted by them stays counted, so make sure that <code>{operation}</code> marks questions.
          </p>
        </ConfirmDialog>
      )}
    </>
  );
}
