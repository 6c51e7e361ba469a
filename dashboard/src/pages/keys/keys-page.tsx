/** The project's id and its API keys. */

import { useQuery } from '@tanstack/react-query';
import { KeyRound } from 'lucide-react';
import { Suspense, useState } from 'react';
import { roleAllows } from '../../../../src/domain/people/member.js';
import { keysQuery } from '../../api/keys.js';
import type { Key } from '../../api/types.js';
import { Copied } from '../../components/content/copy-button.js';
import { DocsLink } from '../../components/content/docs-link.js';
import { Page, Section } from '../../components/content/page.js';
import { EmptyState } from '../../components/feedback/empty-state.js';
import { Failure, Notice } from '../../components/feedback/notice.js';
import { LoadingRows } from '../../components/feedback/skeleton.js';
import { Button } from '../../components/forms/button.js';
import type { CurrentProject } from '../../navigation/current-project.js';
import { KeyDialog, type KeyDialogRequest } from './key-actions.js';
import { isInUse, sortKeys } from './key-order.js';
import { findKeys, searchFromKeys } from './key-search.js';
import { KeysTable } from './keys-table.js';
import './keys.css';
import { lazyCode } from '../../navigation/lazy-code.js';

const NewKeyDialog = lazyCode(() => import('./new-key-dialog.js').then((module) => module.NewKeyDialog));

export function KeysPage(current: CurrentProject) {
  const { organization, project } = current;
  const [isCreating, setCreating] = useState(false);
  const [request, setRequest] = useState<KeyDialogRequest | null>(null);
  const isEditor = roleAllows(organization.role, 'editor');
  const createButton = isEditor && (
    <Button kind="primary" icon={KeyRound} onClick={() => setCreating(true)}>
      Create a key
    </Button>
  );
  return (
    <Page
      title="API keys"
      of={project.name}
      lead={
        <>
          Every request names the project by its id, and proves with a key that it may:{' '}
          <DocsLink page="keys">how keys work</DocsLink>, <DocsLink page="http">what a key can ask</DocsLink>.
        </>
      }
    >
      <Section title="Project id">
        <div className="keys-id">
          <Copied text={project.id} label="Copy project id" />
        </div>
      </Section>
      <Section
        title="Keys"
        lead={`Recording and reading keys of this project, and the admin keys of ${organization.name}, which open all its projects.`}
        actions={createButton}
      >
        {!isEditor && (
          <Notice>You are a viewer here: only owners and editors can create and change keys.</Notice>
        )}
        <Keys current={current} onOpenDialog={setRequest} />
      </Section>
      {isCreating && (
        <Suspense>
          <NewKeyDialog current={current} onClose={() => setCreating(false)} />
        </Suspense>
      )}
      {request !== null && (
        <Suspense>
          <KeyDialog organizationId={organization.id} request={request} onClose={() => setRequest(null)} />
        </Suspense>
      )}
    </Page>
  );
}

interface KeysProps {
  readonly current: CurrentProject;
  readonly onOpenDialog: (request: KeyDialogRequest) => void;
}

function Keys({ current, onOpenDialog }: KeysProps) {
  const { organization, project } = current;
  const { data, error, refetch } = useQuery(keysQuery(organization.id));
  const [search, setSearch] = useState('');
  if (data === undefined) {
    if (error === null) return <LoadingRows what="Loading the keys" rows={4} />;
    return <Failure error={error} what="The keys could not be read." onRetry={() => void refetch()} />;
  }
  const keys = sortKeys(data.keys.filter((key) => key.project === null || key.project === project.id));
  const found = findKeys(keys, search);
  const used = found.filter(isInUse);
  const inactive = found.filter((key) => !isInUse(key));
  return (
    <>
      {keys.length >= searchFromKeys && (
        <input
          type="search"
          className="input keys-search"
          aria-label="Find a key"
          placeholder="Find a key by name, ends or maker"
          autoComplete="off"
          value={search}
          onChange={(event) => setSearch(event.target.value)}
        />
      )}
      {used.length === 0 ? (
        <div className="card">
          <EmptyState title={search === '' ? 'No keys yet' : 'No key in use fits'}>
            Create a recording key for the server that your assistant runs on, and a reading key for the tools
            that read the counts.
          </EmptyState>
        </div>
      ) : (
        <KeysTable current={current} keys={used} caption="Keys in use" onOpenDialog={onOpenDialog} />
      )}
      {inactive.length > 0 && <InactiveKeys current={current} keys={inactive} onOpenDialog={onOpenDialog} />}
    </>
  );
}

/** Expired and revoked keys, collapsed. */
function InactiveKeys({ current, keys, onOpenDialog }: KeysProps & { readonly keys: readonly Key[] }) {
  return (
    <details className="keys-gone">
      <summary>Expired and revoked ({keys.length})</summary>
      <KeysTable
        current={current}
        keys={keys}
        caption="Expired and revoked keys"
        onOpenDialog={onOpenDialog}
      />
    </details>
  );
}
