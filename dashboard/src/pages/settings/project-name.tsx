/** The name of a project. */
import { NameField } from '../../components/forms/field.js';
import { getText } from '../../components/forms/form.js';
import type { CurrentProject } from '../../navigation/current-project.js';
import { ProjectForm } from './project-form.js';

export function ProjectName(current: CurrentProject) {
  const { id, name } = current.project;
  return (
    <ProjectForm
      current={current}
      title="Name"
      what="name"
      toChange={(data) => ({ name: getText(data, 'name') })}
    >
      <NameField
        label="Project name"
        defaultValue={name}
        hint={`Only people read it. The project’s id stays ${id}.`}
      />
    </ProjectForm>
  );
}
