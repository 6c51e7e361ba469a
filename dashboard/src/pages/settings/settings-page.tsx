/** The settings of a project. */

import { useState } from 'react';
import { nameCharactersMax } from '../../../../src/domain/limits.js';
import { roleAllows } from '../../../../src/domain/people/member.js';
import { useProjectChange } from '../../api/projects.js';
import { Page, Section } from '../../components/content/page.js';
import { Notice } from '../../components/feedback/notice.js';
import { toast } from '../../components/feedback/toasts.js';
import { SelectField, TextField } from '../../components/forms/field.js';
import { Form, getText } from '../../components/forms/form.js';
import type { CurrentProject } from '../../navigation/current-project.js';
import { allZones, browserZone } from '../../time/zone.js';
import { DeleteProject } from './delete-project.js';
import { Retention } from './retention.js';
import { Telemetry } from './telemetry.js';

export function SettingsPage(current: CurrentProject) {
  const { organization, project } = current;
  const isEditor = roleAllows(organization.role, 'editor');
  return (
    <Page title="Settings" of={project.name} isNarrow>
      {!isEditor && <Notice>You are a viewer here: only owners and editors change settings.</Notice>}
      <fieldset className="settings" disabled={!isEditor}>
        <Name {...current} />
        <Zone {...current} />
        <Retention {...current} />
        <Telemetry {...current} />
        <DeleteProject {...current} />
      </fieldset>
    </Page>
  );
}

function Name({ organization, project }: CurrentProject) {
  const { mutateAsync } = useProjectChange(organization.id, project.id);
  return (
    <Section title="Name">
      <Form
        label="Name"
        onSend={async (data) => {
          await mutateAsync({ name: getText(data, 'name') });
          toast('The name is saved');
        }}
        submit="Save name"
      >
        <TextField
          label="Project name"
          name="name"
          defaultValue={project.name}
          maxLength={nameCharactersMax}
          autoComplete="off"
          required
          hint={`Only people read it. The project’s id stays ${project.id}.`}
        />
      </Form>
    </Section>
  );
}

function Zone({ organization, project }: CurrentProject) {
  const { mutateAsync } = useProjectChange(organization.id, project.id);
  const [zones] = useState(allZones);
  return (
    <Section
      title="Time zone"
      lead="Whose days the overview shows unless a reader chooses others. The API always takes exact times."
    >
      <Form
        label="Time zone"
        onSend={async (data) => {
          const zone = getText(data, 'timeZone');
          await mutateAsync({ timeZone: zone === '' ? null : zone });
          toast('The time zone is saved');
        }}
        submit="Save time zone"
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
