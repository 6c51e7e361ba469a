/** The project's id and its API keys. */

import { useQuery } from '@tanstack/react-query';
import { KeyRound } from 'lucide-react';
import { useState } from 'react';
import { roleAllows } from '../../../../src/domain/people/member.js';
import { keysQuery } from '../../api/keys.js';
import type { Key } from '../../api/types.js';
import { Copied } from '../../components/content/copy-button.js';
import { DocsLink } from '../../components/content/docs-link.js';
import { Page, Section } from '../../components/content/page.js';
import { EmptyState } from '../../components/feedback/empty-state.js';
import { Loaded } from '../../components/feedback/loaded.js';
import { Notice } from '../../components/feedback/notice.js';
import { Button } from '../../components/forms/button.js';
import type { CurrentProject } from '../../navigation/current-project.js';
import { lazyPart } from '../../navigation/lazy-code.js';
import type { KeyDialogRequest } from './key-actions.js';
import { isInUse, sortKeys } from './key-order.js';
import { findKeys, searchFromKeys } from './key-search.js';
import { KeysTable } from './keys-table.js';
import { RevokeDialog } from './revoke-dialog.js';
import './keys.css';

const LossNotice = lazyPart(() => import('../sources/loss-notice.js'), 'LossNotice');
const NewKeyDialog = lazyPart(() => import('./new-key-dialog.js'), 'NewKeyDialog');
const RotateDialog = lazyPart(() => import('./rotate-dialog.js'), 'RotateDialog');

export function KeysPage(current: CurrentProject) {
  const { organization, project } = current;
  const [isCreating, setCreating] = useState(false);
  const [request, setRequest] = useState<KeyDialogRequest | null>(null);
  const query = useQuery(keysQuery(organization.id));
  const isEditor = roleAllows(organization.role, 'editor');
  const asked = ({ apiKey }: KeyDialogRequest) => ({
    organizationId: organization.id,
    apiKey,
    onClose: () => setRequest(null),
  });
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
          <DocsLink page="keys">how keys work</DocsLink>,{' '}
          <DocsLink page="reading">what a key can ask</DocsLink>.
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
        <LossNotice {...current} only="keys" />
        <Loaded query={query} what="The keys" rows={4}>
          {({ keys }) => (
            <Keys
              current={current}
              keys={sortKeys(keys.filter((key) => key.project === null || key.project === project.id))}
              onOpenDialog={setRequest}
            />
          )}
        </Loaded>
      </Section>
      {isCreating && <NewKeyDialog current={current} onClose={() => setCreating(false)} />}
      {request?.what === 'rotate' && <RotateDialog {...asked(request)} />}
      {request?.what === 'revoke' && <RevokeDialog {...asked(request)} />}
    </Page>
  );
}

interface KeysProps {
  readonly current: CurrentProject;
  readonly keys: readonly Key[];
  readonly onOpenDialog: (request: KeyDialogRequest) => void;
}

function Keys({ current, keys, onOpenDialog }: KeysProps) {
  const [search, setSearch] = useState('');
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
      {inactive.length > 0 && (
        <details className="keys-gone">
          <summary>Expired and revoked ({inactive.length})</summary>
          <KeysTable
            current={current}
            keys={inactive}
            caption="Expired and revoked keys"
            onOpenDialog={onOpenDialog}
          />
        </details>
      )}
    </>
  );
}
