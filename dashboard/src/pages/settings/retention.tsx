/** How long individual queries are stored. Counts are stored forever. */
import { useState } from 'react';
import { retentionDaysMax } from '../../../../src/domain/limits.js';
import { useProjectChange } from '../../api/projects.js';
import { DocsLink } from '../../components/content/docs-link.js';
import { Section } from '../../components/content/page.js';
import { Notice } from '../../components/feedback/notice.js';
import { toast } from '../../components/feedback/toasts.js';
import { Choice, Choices, TextField } from '../../components/forms/field.js';
import { Form, getText } from '../../components/forms/form.js';
import { day } from '../../format/dates.js';
import type { CurrentProject } from '../../navigation/current-project.js';

/** The suggested value: long enough for any sender's retries. */
const usualDays = 400;

export function Retention({ organization, project }: CurrentProject) {
  const { mutateAsync } = useProjectChange(organization.id, project.id);
  const [isForever, setForever] = useState(project.retentionDays === null);
  return (
    <Section
      title="Retention"
      lead={
        <>
          Counts are stored for ever and stay exact. Retention removes the single queries behind them: their
          times, and their ids, by which the server recognizes a query that is sent twice.{' '}
          <DocsLink page="projects#retention">What retention removes</DocsLink>
        </>
      }
    >
      {typeof project.rowsFrom === 'string' && (
        <Notice>
          Single queries from before {day(Date.parse(project.rowsFrom), 'UTC')} are removed, and none from
          before that day (UTC) are taken.
        </Notice>
      )}
      <Form
        label="Retention"
        onSend={async (data) => {
          await mutateAsync({ retentionDays: isForever ? null : Number(getText(data, 'retentionDays')) });
          toast('The retention is saved');
        }}
        submit="Save retention"
      >
        <Choices legend="Single queries are kept">
          <Choice
            name="retention"
            value="forever"
            label="For ever"
            hint="A repeated query is recognized at any time."
            checked={isForever}
            onChange={() => setForever(true)}
          />
          <Choice
            name="retention"
            value="days"
            label="For some days"
            hint="Then they are removed. Queries of that age are not taken any more."
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
            hint="What was removed does not come back when you choose more days later."
          />
        )}
      </Form>
    </Section>
  );
}
