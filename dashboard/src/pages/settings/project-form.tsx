/** A card of the settings, which saves a part of the project. */
import type { ReactNode } from 'react';
import { type ProjectChange, useProjectChange } from '../../api/projects.js';
import { Section } from '../../components/content/page.js';
import { Form } from '../../components/forms/form.js';
import type { CurrentProject } from '../../navigation/current-project.js';

interface ProjectFormProps {
  readonly current: CurrentProject;
  readonly title: string;
  readonly lead?: ReactNode;
  /** Above the form. */
  readonly notice?: ReactNode;
  /** What is saved: `time zone`. */
  readonly what: string;
  readonly done?: string;
  readonly toChange: (data: FormData) => ProjectChange;
  readonly children: ReactNode;
}

export function ProjectForm(props: ProjectFormProps) {
  const { current, title, lead, notice, what, done = `The ${what} is saved`, toChange, children } = props;
  const { mutateAsync } = useProjectChange(current.organization.id, current.project.id);
  return (
    <Section title={title} lead={lead}>
      {notice}
      <Form
        label={title}
        onSend={(data) => mutateAsync(toChange(data))}
        done={done}
        submit={`Save ${what}`}
        needsChange
      >
        {children}
      </Form>
    </Section>
  );
}
