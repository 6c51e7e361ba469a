/** The name of a project. */
import { nameCharactersMax } from '../../../../src/domain/limits.js';
import { TextField } from '../../components/forms/field.js';
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
      <TextField
        label="Project name"
        name="name"
        defaultValue={name}
        maxLength={nameCharactersMax}
        autoComplete="off"
        required
        hint={`Only people read it. The project’s id stays ${id}.`}
      />
    </ProjectForm>
  );
}
