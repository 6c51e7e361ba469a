/** Helps to record the first query of a project: a key, a test that counts nothing, and code. */

import { useQuery } from '@tanstack/react-query';
import { CircleCheck, KeyRound } from 'lucide-react';
import { useState } from 'react';
import { Link } from 'wouter';
import { roleAllows } from '../../../../src/domain/people/member.js';
import { ingestionQuery } from '../../api/ingestion.js';
import { createKey } from '../../api/keys.js';
import { useSession } from '../../api/session.js';
import type { Ingestion } from '../../api/types.js';
import { Code, Copied } from '../../components/content/copy-button.js';
import { DocsLink } from '../../components/content/docs-link.js';
import { Section } from '../../components/content/page.js';
import { Tabs } from '../../components/content/tabs.js';
import { Notice } from '../../components/feedback/notice.js';
import { Button } from '../../components/forms/button.js';
import { useAction } from '../../components/forms/use-action.js';
import { count } from '../../format/numbers.js';
import { SENDERS, type Sender, snippets, testCommand } from '../../format/snippets.js';
import { serverUrl } from '../../navigation/base-path.js';
import { type CurrentProject, projectPage } from '../../navigation/current-project.js';
import './first-query.css';

/** How often to look for a test while the page waits. */
const lookMs = 3_000;

export function FirstQuery(current: CurrentProject) {
  const { project } = current;
  const [sender, setSender] = useState<Sender>('curl');
  const [key, setKey] = useState<string | null>(null);
  const to = { origin: serverUrl(), projectId: project.id, key };
  return (
    <div className="page first">
      <Waiting {...current} />
      <Section title="Project id" lead="Every request names it.">
        <Copied text={project.id} label="Copy project id" />
      </Section>
      <Section
        title="Recording key"
        lead={
          <>
            It can only record into this project. Keep it on your server.{' '}
            <DocsLink page="keys">How keys work</DocsLink>
          </>
        }
      >
        <KeyIssuer {...current} secret={key} onSecret={setKey} />
      </Section>
      <Section
        title="Send a test"
        lead="A list without queries proves address, project and key. It is never counted."
      >
        <Code text={testCommand(to)} label="Copy test" />
      </Section>
      <Section title="Record queries" lead={<MoreWays />}>
        <Tabs label="Sender" tabs={SENDERS} value={sender} onChange={setSender}>
          <div className="stack">
            {snippets(sender, to).map(({ title, code }) => (
              <div key={title} className="first-snippet">
                <h3>{title}</h3>
                <Code text={code} label={`Copy ${sender} code, ${title.toLowerCase()}`} />
              </div>
            ))}
            <p className="quiet small">
              <Explanation sender={sender} />
            </p>
          </div>
        </Tabs>
      </Section>
    </div>
  );
}

function MoreWays() {
  return (
    <>
      A query that is sent twice counts once. Also: <DocsLink page="recipes">Ruby and PHP</DocsLink>,{' '}
      <DocsLink page="record">what is sent and answered</DocsLink>.
    </>
  );
}

function Explanation({ sender }: { sender: Sender }) {
  switch (sender) {
    case 'curl':
      return (
        <>Use your own id of each question. The id first-query counts once, however often you send it.</>
      );
    case 'OpenTelemetry':
      return (
        <>
          For assistants with the GenAI conventions and other instrumentations:{' '}
          <DocsLink page="opentelemetry">which spans are questions</DocsLink>.
        </>
      );
    case 'Import':
      return (
        <>
          CSV, JSON, access logs and the exports of other systems work, too:{' '}
          <DocsLink page="import">all formats</DocsLink>. History that exists only as counts:{' '}
          <DocsLink page="import#import-counts">importing counts</DocsLink>.
        </>
      );
    case 'Express':
    case 'Next.js':
    case 'Fastify':
      return (
        <>
          Make the package from the repository first:{' '}
          <DocsLink page="client#install">how to install the client</DocsLink>. It also has middleware for
          others: <DocsLink page="client#middleware">all of them</DocsLink>.
        </>
      );
  }
}

/** What has arrived so far. The page notices the first query by itself. */
function Waiting({ organization, project }: CurrentProject) {
  const { data } = useQuery({
    ...ingestionQuery({ organizationId: organization.id, projectId: project.id }),
    refetchInterval: lookMs,
  });
  const sources = data?.sources ?? [];
  const test = sources.find(isTest);
  const refused = sources.reduce((sum, { lastDay }) => sum + lastDay.refused, 0);
  return (
    <div className="first-wait card" role="status">
      {test === undefined ? (
        <p>
          <span className="updated-dot" aria-hidden />
          Waiting for the first query. It appears here by itself.
        </p>
      ) : (
        <p>
          <CircleCheck aria-hidden />
          Test received from “{test.name}”: address, project and key work. Nothing was counted. Waiting for
          the first query.
        </p>
      )}
      {refused > 0 && (
        <p className="quiet">
          {refused === 1 ? '1 request was refused' : `${count(refused)} requests were refused`} in the last
          day: <Link href={projectPage(project.id, 'sources')}>see the sources</Link>
        </p>
      )}
    </div>
  );
}

/** Whether all that arrived were requests without queries. */
function isTest({ kind, lastDay }: Ingestion['sources'][number]): boolean {
  return kind === 'queries' && lastDay.requests > lastDay.refused && lastDay.arrived === lastDay.rejected;
}

interface KeyIssuerProps extends CurrentProject {
  readonly secret: string | null;
  readonly onSecret: (secret: string) => void;
}

function KeyIssuer({ organization, project, secret, onSecret }: KeyIssuerProps) {
  const { keys } = useSession();
  const { run, isBusy } = useAction();

  if (secret !== null)
    return (
      <>
        <Copied text={secret} label="Copy recording key" />
        <Notice kind="warn">
          This is the only time the key is shown. The commands below contain it: keep them secret, too.
        </Notice>
      </>
    );
  if (!roleAllows(organization.role, 'editor'))
    return (
      <Notice>
        You are a {organization.role} here: ask an owner or editor of {organization.name} for a key.
      </Notice>
    );
  const make = async (): Promise<void> => {
    const created = await createKey(organization.id, {
      name: 'First recording key',
      type: 'recording',
      projectId: project.id,
      expires: keys.expiryDefaults.recording,
    });
    onSecret(created.secret);
  };
  return (
    <div className="row">
      <Button kind="primary" icon={KeyRound} busy={isBusy} onClick={() => run(make)}>
        Create a recording key
      </Button>
      {keys.lifeDaysMax !== null && (
        <span className="quiet small">It expires in {keys.lifeDaysMax} days.</span>
      )}
    </div>
  );
}
