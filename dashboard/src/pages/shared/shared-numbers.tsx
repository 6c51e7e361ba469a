/** The numbers of a shared project, as its overview shows them to members. */
import { useEffect, useState } from 'react';
import { ApiError } from '../../api/client.js';
import { queryClient } from '../../api/query-client.js';
import { sharedCounts, sharedQuery } from '../../api/shared.js';
import type { SharedProject } from '../../api/types.js';
import { Page } from '../../components/content/page.js';
import type { Choice } from '../../time/choice.js';
import { findKey } from '../../time/names.js';
import { NumbersView, type Part } from '../overview/numbers-view.js';
import { Opened } from '../overview/opened.js';
import { Updated } from '../overview/updated.js';
import { useReading } from '../overview/use-reading.js';
import { useView } from '../overview/use-view.js';

/** What `?show=` names. */
const PARTS: Readonly<Record<Part, string>> = { numbers: 'Only the numbers', chart: 'Only the chart' };

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
  // Only at first: the address then describes the view.
  const [only] = useState(() => findKey(PARTS, new URLSearchParams(location.search).get('show')));
  const numbers = <NumbersView counts={counts} view={view} setView={setView} reading={reading} only={only} />;
  if (only !== undefined)
    return (
      <>
        <h1 className="out-of-sight">{project.name}</h1>
        {numbers}
      </>
    );
  return (
    <Page title={project.name} actions={<Updated reading={reading} />}>
      {numbers}
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
