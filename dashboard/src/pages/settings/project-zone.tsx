/** The time zone of a project. */
import { getText } from '../../components/forms/form.js';
import { ZoneField } from '../../components/forms/zone-field.js';
import type { CurrentProject } from '../../navigation/current-project.js';
import { browserZone } from '../../time/zone.js';
import { ProjectForm } from './project-form.js';

export function ProjectZone(current: CurrentProject) {
  return (
    <ProjectForm
      current={current}
      title="Time zone"
      lead="The overview shows days of this time zone, unless a reader chooses another."
      what="time zone"
      toChange={(data) => ({ timeZone: getText(data, 'timeZone') || null })}
    >
      <ZoneField label="Project time zone" selected={current.project.timeZone ?? ''}>
        <option value="">Each reader’s own (yours: {browserZone()})</option>
      </ZoneField>
    </ProjectForm>
  );
}
