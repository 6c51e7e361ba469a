/** A form for each operation of the API, made from the server's OpenAPI document. */
import { useQuery } from '@tanstack/react-query';
import { Suspense, useEffect, useState } from 'react';
import { Link } from 'wouter';
import { getQuery } from '../../api/client.js';
import { Page, Section } from '../../components/content/page.js';
import { Badge } from '../../components/feedback/badge.js';
import { Loaded } from '../../components/feedback/loaded.js';
import { TextField } from '../../components/forms/field.js';
import { Logo } from '../../layout/header/logo.js';
import { basePath } from '../../navigation/base-path.js';
import { useFirstProject, useOrganization } from '../../navigation/current-project.js';
import { listOperations, type OpenApiDocument, type Operation } from './open-api.js';
import { OperationForm } from './operation-form.js';
import './try.css';

const openApi = { ...getQuery<OpenApiDocument>('/openapi.json'), staleTime: Number.POSITIVE_INFINITY };

export function TryPage() {
  const query = useQuery(openApi);
  const [own, setOwn] = useState('');
  const [typed, setTyped] = useState<string | null>(null);
  const [key, setKey] = useState('');
  const project = typed ?? own;
  return (
    <div className="try">
      <Suspense>
        <OwnProject onFound={setOwn} />
      </Suspense>
      <header className="try-top">
        <Link href="/" className="try-brand">
          <Logo />
          <span>caller-stats</span>
        </Link>
        <nav aria-label="Documentation">
          <a href={`${basePath}/docs/`}>Documentation</a>
          <a href={`${basePath}/docs/reading#read-over-http`}>What the operations mean</a>
          <a href={`${basePath}/openapi.json`}>OpenAPI document</a>
        </nav>
      </header>
      <main>
        <Page title="Try the API" lead="Requests go to this server, with your key, and count for real.">
          <div className="try-who">
            <TextField
              label="Project id"
              name="project"
              mono
              spellCheck={false}
              value={project}
              onChange={(event) => setTyped(event.target.value)}
            />
            <TextField
              label="API key"
              name="key"
              type="password"
              autoComplete="off"
              mono
              hint="A reading or admin key reads, a recording key records. It stays in this window, and is forgotten when you close it."
              value={key}
              onChange={(event) => setKey(event.target.value.trim())}
            />
          </div>
          <Loaded query={query} what="The operations" rows={3}>
            {(document) => <Groups document={document} project={project} apiKey={key} />}
          </Loaded>
        </Page>
      </main>
    </div>
  );
}

/** Finds a project of the signed-in user. The page does not wait for it. */
function OwnProject({ onFound }: { onFound: (id: string) => void }) {
  const id = useFirstProject(useOrganization()).found?.id;
  useEffect(() => {
    if (id !== undefined) onFound(id);
  }, [id, onFound]);
  return null;
}

interface GroupsProps {
  readonly document: OpenApiDocument;
  readonly project: string;
  readonly apiKey: string;
}

function Groups({ document, project, apiKey }: GroupsProps) {
  const leads = new Map((document.tags ?? []).map(({ name, description }) => [name, description]));
  return [...listOperations(document)].map(([tag, operations]) => (
    <Section key={tag} title={tag} lead={leads.get(tag)}>
      <div className="try-operations">
        {operations.map((operation) => (
          <Details key={operation.operationId} operation={operation} project={project} apiKey={apiKey} />
        ))}
      </div>
    </Section>
  ));
}

function Details(props: { operation: Operation; project: string; apiKey: string }) {
  const { method, path, summary } = props.operation;
  const [isOpen, setOpen] = useState(false);
  return (
    <details className="operation" onToggle={(event) => setOpen(event.currentTarget.open)}>
      <summary>
        <Badge kind={method === 'GET' ? 'accent' : 'good'}>{method}</Badge>
        <span className="operation-name">{summary}</span>
        <code className="operation-path">{path}</code>
      </summary>
      {isOpen && <OperationForm {...props} />}
    </details>
  );
}
