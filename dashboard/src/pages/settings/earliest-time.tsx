/** The time before which queries of senders are refused. */
import { DocsLink } from '../../components/content/docs-link.js';
import { TextField } from '../../components/forms/field.js';
import { getText } from '../../components/forms/form.js';
import type { CurrentProject } from '../../navigation/current-project.js';
import { ProjectForm } from './project-form.js';

export function EarliestTime(current: CurrentProject) {
  const { earliestAt } = current.project;
  return (
    <ProjectForm
      current={current}
      title="Earliest time"
      lead={
        <>
          A sender whose clock was never set, or whose times are in another unit, records queries of 1970. The
          server refuses queries from before this day.{' '}
          <DocsLink page="not-arriving#times-before-2000">Doubtful times</DocsLink>
        </>
      }
      what="earliest time"
      toChange={(data) => ({ earliestAt: getText(data, 'earliestAt') || null })}
    >
      <TextField
        label="Earliest day (UTC)"
        name="earliestAt"
        type="date"
        defaultValue={earliestAt?.slice(0, 'YYYY-MM-DD'.length) ?? ''}
        hint="Without one, queries of before 2000 are recorded, and the page Sources flags them."
      />
    </ProjectForm>
  );
}
