/** How long individual queries are stored. Counts are stored forever. */
import { useState } from 'react';
import { retentionDaysMax } from '../../../../src/domain/limits.js';
import { DocsLink } from '../../components/content/docs-link.js';
import { Notice } from '../../components/feedback/notice.js';
import { Choice, Choices, TextField } from '../../components/forms/field.js';
import { getText } from '../../components/forms/form.js';
import { day } from '../../format/dates.js';
import type { CurrentProject } from '../../navigation/current-project.js';
import { ProjectForm } from './project-form.js';

/** The suggested value: long enough for any sender's retries. */
const usualDays = 400;

export function Retention(current: CurrentProject) {
  const { project } = current;
  const [isForever, setForever] = useState(project.retentionDays === null);
  return (
    <ProjectForm
      current={current}
      title="Retention"
      lead={
        <>
          Counts are stored forever and stay exact. Retention removes the individual queries behind them:
          their times, and their ids, by which the server recognizes a query that is sent twice.{' '}
          <DocsLink page="projects#retention">What retention removes</DocsLink>
        </>
      }
      notice={
        typeof project.rowsFrom === 'string' && (
          <Notice>
            Individual queries from before {day(project.rowsFrom, 'UTC')} are removed. The server refuses
            queries from before that day (UTC).
          </Notice>
        )
      }
      what="retention"
      toChange={(data) => ({ retentionDays: isForever ? null : Number(getText(data, 'retentionDays')) })}
    >
      <Choices legend="Individual queries are stored">
        <Choice
          name="retention"
          value="forever"
          label="Forever"
          hint="A repeated query is recognized at any time."
          checked={isForever}
          onChange={() => setForever(true)}
        />
        <Choice
          name="retention"
          value="days"
          label="For some days"
          hint="Then they are removed, and the server refuses queries of that age."
          checked={!isForever}
          onChange={() => setForever(false)}
        />
      </Choices>
      {!isForever && (
        <TextField
          label="Days"
          name="retentionDays"
          type="number"
          inputMode="numeric"
          min={1}
          max={retentionDaysMax}
          step={1}
          defaultValue={project.retentionDays ?? usualDays}
          required
          hint="Queries that were removed do not come back if you choose more days later."
        />
      )}
    </ProjectForm>
  );
}
