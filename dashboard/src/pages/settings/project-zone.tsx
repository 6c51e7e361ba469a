/** The time zone of a project. */
import { useState } from 'react';
import { useProjectChange } from '../../api/projects.js';
import { Section } from '../../components/content/page.js';
import { toast } from '../../components/feedback/toasts.js';
import { SelectField } from '../../components/forms/field.js';
import { Form, getText } from '../../components/forms/form.js';
import type { CurrentProject } from '../../navigation/current-project.js';
import { allZones, browserZone } from '../../time/zone.js';

export function ProjectZone({ organization, project }: CurrentProject) {
  const { mutateAsync } = useProjectChange(organization.id, project.id);
  const [zones] = useState(allZones);
  return (
    <Section
      title="Time zone"
      lead="The overview shows days of this time zone, unless a reader chooses another."
    >
      <Form
        label="Time zone"
        onSend={async (data) => {
          const zone = getText(data, 'timeZone');
          await mutateAsync({ timeZone: zone === '' ? null : zone });
          toast('The time zone is saved');
        }}
        submit="Save time zone"
        needsChange
      >
        <SelectField label="Project time zone" name="timeZone" defaultValue={project.timeZone ?? ''}>
          <option value="">Each reader’s own (yours: {browserZone()})</option>
          {project.timeZone !== null && !zones.includes(project.timeZone) && (
            <option>{project.timeZone}</option>
          )}
          {zones.map((zone) => (
            <option key={zone}>{zone}</option>
          ))}
        </SelectField>
      </Form>
    </Section>
  );
}
