/** The state of the overview, stored in the URL. */
import { useCallback, useEffect, useMemo } from 'react';
import { useLocation, useSearch } from 'wouter';
import { keepQuery } from '../../navigation/last-view.js';
import { readView, type View, type Viewed, writeView } from '../../navigation/view.js';
import type { Choice } from '../../time/choice.js';

export function useView(project: Viewed, usualChoice: Choice): [View, (change: Partial<View>) => void] {
  const [path, navigate] = useLocation();
  const query = useSearch();
  const view = useMemo(
    () => readView(new URLSearchParams(query), project, usualChoice),
    [query, project, usualChoice],
  );
  const written = writeView(view);

  // The URL always describes the complete view, so that it can be copied at any time.
  useEffect(() => {
    if (project.id !== undefined) keepQuery(project.id, written);
    if (query !== written) navigate(`${path}?${written}`, { replace: true });
  }, [project.id, path, query, written, navigate]);

  const change = useCallback(
    (part: Partial<View>) => navigate(`${path}?${writeView({ ...view, ...part })}`),
    [view, path, navigate],
  );
  return [view, change];
}
