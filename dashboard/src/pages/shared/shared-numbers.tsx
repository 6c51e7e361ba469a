/** The numbers of a shared project, as its overview shows them to members. */
import { useEffect, useState } from 'react';
import { useSearch } from 'wouter';
import { ApiError } from '../../api/client.js';
import { queryClient } from '../../api/query-client.js';
import { sharedCounts, sharedQuery } from '../../api/shared.js';
import type { SharedProject } from '../../api/types.js';
import { Page } from '../../components/content/page.js';
import { defaultZone, readChoice } from '../../navigation/view.js';
import { type Choice, DEFAULT_CHOICE } from '../../time/range.js';
import { Landing } from '../overview/landing.js';
import { NumbersView } from '../overview/numbers-view.js';
import { Updated } from '../overview/updated.js';
import { useNumbers } from '../overview/use-numbers.js';
import { useView } from '../overview/use-view.js';

interface SharedNumbersProps {
  readonly token: string;
  readonly project: SharedProject;
}

export function SharedNumbers({ token, project }: SharedNumbersProps) {
  const query = useSearch();
  const [usual, setUsual] = useState(() =>
    readChoice(new URLSearchParams(query), defaultZone(project)) === null ? null : DEFAULT_CHOICE,
  );
  return usual === null ? (
    <Landing counts={sharedCounts(token)} project={project} query={query} onChoice={setUsual} />
  ) : (
    <SharedOverview token={token} project={project} usual={usual} />
  );
}

function SharedOverview({ token, project, usual }: SharedNumbersProps & { readonly usual: Choice }) {
  const counts = sharedCounts(token);
  const [view, setView] = useView(project, usual);
  const numbers = useNumbers(counts, view);
  useRecheck(token, numbers.error);
  return (
    <Page title={project.name} actions={<Updated numbers={numbers} />}>
      <NumbersView counts={counts} view={view} setView={setView} numbers={numbers} />
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
