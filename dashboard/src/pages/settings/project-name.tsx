/** The name of a project. */
import { nameCharactersMax } from '../../../../src/domain/limits.js';
import { useProjectChange } from '../../api/projects.js';
import { Section } from '../../components/content/page.js';
import { toast } from '../../components/feedback/toasts.js';
import { TextField } from '../../components/forms/field.js';
import { Form, getText } from '../../components/forms/form.js';
import type { CurrentProject } from '../../navigation/current-project.js';

export function ProjectName({ organization, project }: CurrentProject) {
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
        needsChange
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
