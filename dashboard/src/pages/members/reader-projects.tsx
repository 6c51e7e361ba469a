/** Which projects a reader may read. */
import { useQuery } from '@tanstack/react-query';
import { changeMember } from '../../api/people/members.js';
import { projectsQuery } from '../../api/projects.js';
import type { Member, Organization } from '../../api/types.js';
import { Check } from '../../components/forms/field.js';
import { FormDialog } from '../../components/overlays/form-dialog.js';

interface FieldsProps {
  readonly organization: Organization;
  readonly chosen?: readonly string[];
}

/** A box for each project of the organization; `chosenProjects` reads them. */
export function ReaderProjects({ organization, chosen = [] }: FieldsProps) {
  const { data } = useQuery(projectsQuery(organization.id));
  return (
    <fieldset>
      <legend className="field-label">Projects</legend>
      {data?.projects.map(({ id, name }) => (
        <Check key={id} label={name} name="project" value={id} defaultChecked={chosen.includes(id)} />
      ))}
    </fieldset>
  );
}

export function chosenProjects(data: FormData): readonly string[] {
  return data.getAll('project').map(String);
}

interface DialogProps {
  readonly organization: Organization;
  readonly member: Member;
  readonly onDone: (keys: Awaited<ReturnType<typeof changeMember>>) => void;
  readonly onClose: () => void;
}

export function ReaderDialog({ organization, member, onDone, onClose }: DialogProps) {
  return (
    <FormDialog
      title={`What may ${member.email} read?`}
      lead="Readers see the counts of the projects that you choose, and nothing else of the organization."
      submit="Save"
      done={`${member.email} is now a reader`}
      onSend={async (data) =>
        onDone(
          await changeMember(organization.id, member.email, {
            role: 'reader',
            projects: chosenProjects(data),
          }),
        )
      }
      onClose={onClose}
    >
      <ReaderProjects organization={organization} chosen={member.projects ?? []} />
    </FormDialog>
  );
}
