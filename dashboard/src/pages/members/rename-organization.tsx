/** The name of the organization, for its owners. */
import { nameCharactersMax } from '../../../../src/domain/limits.js';
import { changeOrganization } from '../../api/people/members.js';
import type { Organization } from '../../api/types.js';
import { Section } from '../../components/content/page.js';
import { TextField } from '../../components/forms/field.js';
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
        <TextField
          label="Organization name"
          name="name"
          defaultValue={name}
          maxLength={nameCharactersMax}
          autoComplete="off"
          required
          hint={`Invitations show it. The id stays ${id}.`}
        />
      </Form>
    </Section>
  );
}
