/** The name of the organization, for its owners. */
import { changeOrganization } from '../../api/people/members.js';
import type { Organization } from '../../api/types.js';
import { Section } from '../../components/content/page.js';
import { NameField } from '../../components/forms/field.js';
import { Form, getText } from '../../components/forms/form.js';

export function RenameOrganization({ id, name }: Organization) {
  return (
    <Section title="Organization">
      <Form
        label="Organization"
        onSend={(data) => changeOrganization(id, { name: getText(data, 'name') })}
        done="The name is saved"
        submit="Save name"
        needsChange
      >
        <NameField
          label="Organization name"
          defaultValue={name}
          hint={`Invitations show it. The id stays ${id}.`}
        />
      </Form>
    </Section>
  );
}
