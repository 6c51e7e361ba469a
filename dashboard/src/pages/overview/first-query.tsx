/** Helps to record the first query of a project: a key and a code sample. */

import { KeyRound } from 'lucide-react';
import { useState } from 'react';
import { roleAllows } from '../../../../src/domain/people/member.js';
import { createKey } from '../../api/keys.js';
import { useSession } from '../../api/session.js';
import { Code, Copied } from '../../components/content/copy-button.js';
import { Section } from '../../components/content/page.js';
import { Tabs } from '../../components/content/tabs.js';
import { Notice } from '../../components/feedback/notice.js';
import { Button } from '../../components/forms/button.js';
import { useAction } from '../../components/forms/use-action.js';
import { exportKey, LANGUAGES, type Language, snippet } from '../../format/snippets.js';
import { serverUrl } from '../../navigation/base-path.js';
import type { CurrentProject } from '../../navigation/current-project.js';

export function FirstQuery(current: CurrentProject) {
  const { project } = current;
  const [language, setLanguage] = useState<Language>('curl');
  return (
    <div className="first">
      <Section title="Project id" lead="It stands in the address of every request.">
        <Copied text={project.id} label="Copy project id" />
      </Section>
      <Section
        title="A recording key"
        lead="It may record into this project and do nothing else. Keep it on your server."
      >
        <KeyIssuer {...current} />
      </Section>
      <Section
        title="Record a query"
        lead="Paste this where the key is set. Sent twice, it still counts once."
      >
        <Tabs label="Language" tabs={LANGUAGES} value={language} onChange={setLanguage}>
          <Code text={snippet(language, serverUrl(), project.id)} label={`Copy ${language} code`} />
        </Tabs>
      </Section>
      <p className="first-wait" role="status">
        <span className="updated-dot" aria-hidden />
        Waiting for the first query. It appears here by itself.
      </p>
    </div>
  );
}

function KeyIssuer({ organization, project }: CurrentProject) {
  const { keys } = useSession();
  const [secret, setSecret] = useState<string | null>(null);
  const { run, isBusy } = useAction();

  if (secret !== null)
    return (
      <>
        <Code text={exportKey(secret)} label="Copy line that sets the key" />
        <Notice kind="warn">This is the only time the key is shown. Copy it now, and keep it secret.</Notice>
      </>
    );
  if (!roleAllows(organization.role, 'editor'))
    return <Notice>You are a viewer here: ask an owner or editor of {organization.name} for a key.</Notice>;
  const make = (): Promise<void> =>
    createKey(organization.id, {
      name: 'First recording key',
      type: 'recording',
      projectId: project.id,
      expires: `${keys.expiryDaysDefault}d`,
    }).then((created) => setSecret(created.secret));
  return (
    <div className="row">
      <Button kind="primary" icon={KeyRound} busy={isBusy} onClick={() => run(make)}>
        Create a recording key
      </Button>
      <span className="quiet small">It expires in {keys.expiryDaysDefault} days.</span>
    </div>
  );
}
