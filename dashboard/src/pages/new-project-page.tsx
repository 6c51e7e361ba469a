/** Creates a project. */

import { useState } from 'react';
import { useLocation } from 'wouter';
import { projectIdCharactersMax } from '../../../src/domain/limits.js';
import { roleAllows } from '../../../src/domain/people/member.js';
import { createProject } from '../api/projects.js';
import type { Organization } from '../api/types.js';
import { Page } from '../components/content/page.js';
import { Notice } from '../components/feedback/notice.js';
import { NameField, TextField } from '../components/forms/field.js';
import { Form, getText } from '../components/forms/form.js';
import { isLikelyBlocked, suggestProjectId } from '../format/project-id.js';
import { projectPage, useOrganization } from '../navigation/current-project.js';

export function NewProjectPage() {
  const organization = useOrganization();
  return (
    <Page
      title="New project"
      lead="A project is one documentation site: its queries are counted apart from all others."
      isNarrow
    >
      {organization !== null && roleAllows(organization.role, 'editor') ? (
        <NewProjectForm organization={organization} />
      ) : (
        <Notice>Viewers cannot create projects. Ask an owner or editor.</Notice>
      )}
    </Page>
  );
}

function NewProjectForm({ organization }: { organization: Organization }) {
  const [, navigate] = useLocation();
  const [name, setName] = useState('');
  const [ownId, setOwnId] = useState<string | null>(null);
  const id = ownId ?? suggestProjectId(name);
  return (
    <Form
      label="New project"
      onSend={async (data) => {
        const id = getText(data, 'id');
        const project = await createProject(organization.id, {
          name: getText(data, 'name'),
          ...(id === '' ? {} : { id }),
        });
        navigate(projectPage(project.id));
      }}
      submit="Create project"
      kind="primary"
    >
      <NameField value={name} onChange={(event) => setName(event.target.value)} />
      <TextField
        label="Project id"
        name="id"
        optional
        mono
        maxLength={projectIdCharactersMax}
        autoComplete="off"
        autoCapitalize="none"
        spellCheck={false}
        hint="It is part of every request URL and cannot be changed later. Leave it empty to generate one."
        value={id}
        onChange={(event) => setOwnId(event.target.value)}
      />
      {isLikelyBlocked(id) && (
        <Notice kind="warn">
          Ad blockers match this id in addresses, so some people would not see the counts. Choose another id,
          such as the name of the site.
        </Notice>
      )}
    </Form>
  );
}
