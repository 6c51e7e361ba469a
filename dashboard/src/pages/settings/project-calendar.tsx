/** The time zone of a project, and the day on which its weeks begin. */
import { SelectField } from '../../components/forms/field.js';
import { getText } from '../../components/forms/form.js';
import { ZoneField } from '../../components/forms/zone-field.js';
import type { CurrentProject } from '../../navigation/current-project.js';
import { findKey, keysOf, WEEK_START_NAMES } from '../../time/names.js';
import { browserZone } from '../../time/zone.js';
import { ProjectForm } from './project-form.js';

export function ProjectCalendar(current: CurrentProject) {
  const { timeZone, weekStart } = current.project;
  return (
    <ProjectForm
      current={current}
      title="Time zone and weeks"
      lead="The overview shows days of this time zone, unless a reader chooses another. Weeks begin on this day in every report that does not name another."
      what="calendar"
      toChange={(data) => ({
        timeZone: getText(data, 'timeZone') || null,
        weekStart: findKey(WEEK_START_NAMES, getText(data, 'weekStart')) ?? null,
      })}
    >
      <ZoneField label="Project time zone" selected={timeZone ?? ''}>
        <option value="">Each reader’s own (yours: {browserZone()})</option>
      </ZoneField>
      <SelectField label="Weeks begin on" name="weekStart" defaultValue={weekStart ?? 'monday'}>
        {keysOf(WEEK_START_NAMES).map((one) => (
          <option key={one} value={one}>
            {WEEK_START_NAMES[one]}
          </option>
        ))}
      </SelectField>
    </ProjectForm>
  );
}
