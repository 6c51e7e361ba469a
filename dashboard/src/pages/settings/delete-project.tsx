/** Deletes a project with all of its counts. */
import { useState } from 'react';
import { useLocation } from 'wouter';
import { deleteProject } from '../../api/projects.js';
import { Section } from '../../components/content/page.js';
import { Button } from '../../components/forms/button.js';
import { ConfirmDialog } from '../../components/overlays/confirm-dialog.js';
import type { CurrentProject } from '../../navigation/current-project.js';
import { remember } from '../../preferences/local-storage.js';

export function DeleteProject({ organization, project }: CurrentProject) {
  const [isAsking, setAsking] = useState(false);
  const [, navigate] = useLocation();
  return (
    <Section
      title="Danger zone"
      lead="Deleting the project removes its counts, queries, keys and share links. Only a backup brings them back."
      kind="danger"
    >
      <div className="row">
        <Button kind="danger" onClick={() => setAsking(true)}>
          Delete project…
        </Button>
      </div>
      {isAsking && (
        <ConfirmDialog
          title={`Delete ${project.name}?`}
          action="Delete project"
          done={`${project.name} is deleted`}
          typed={{ what: 'the project’s name', text: project.name }}
          onConfirm={async () => {
            await deleteProject(organization.id, project.id, project.name);
            remember('project', null);
            navigate('/', { replace: true });
          }}
          onClose={() => setAsking(false)}
        >
          <p>
            This deletes all counts of <strong>{project.name}</strong>. Its recording keys stop working at
            once.
          </p>
        </ConfirmDialog>
      )}
    </Section>
  );
}
