/** The numbers of a shared project, as its overview shows them to members. */
import { useEffect } from 'react';
import { ApiError } from '../../api/client.js';
import { queryClient } from '../../api/query-client.js';
import { sharedCounts, sharedQuery } from '../../api/shared.js';
import type { SharedProject } from '../../api/types.js';
import { Page } from '../../components/content/page.js';
import type { Choice } from '../../time/choice.js';
import { NumbersView } from '../overview/numbers-view.js';
import { Opened } from '../overview/opened.js';
import { Updated } from '../overview/updated.js';
import { useReading } from '../overview/use-reading.js';
import { useView } from '../overview/use-view.js';

interface SharedNumbersProps {
  readonly token: string;
  readonly project: SharedProject;
}

export function SharedNumbers({ token, project }: SharedNumbersProps) {
  return (
    <Opened counts={sharedCounts(token)} project={project}>
      {(usual) => <SharedOverview token={token} project={project} usual={usual} />}
    </Opened>
  );
}

function SharedOverview({ token, project, usual }: SharedNumbersProps & { readonly usual: Choice }) {
  const counts = sharedCounts(token);
  const [view, setView] = useView(project, usual);
  const reading = useReading(counts, view);
  useRecheck(token, reading.error);
  return (
    <Page title={project.name} actions={<Updated reading={reading} />}>
      <NumbersView counts={counts} view={view} setView={setView} reading={reading} />
    </Page>
  );
}

/** Asks for the link again if it was revoked or its ticket has expired, so that the page says so. */
function useRecheck(token: string, error: Error | null): void {
  const isRefused = error instanceof ApiError && (error.status === 401 || error.status === 404);
  useEffect(() => {
    if (isRefused) void queryClient.invalidateQueries(sharedQuery(token));
  }, [isRefused, token]);
}
