/** The state of the overview, stored in the URL. */
import { useCallback, useEffect, useMemo } from 'react';
import { useLocation, useSearch } from 'wouter';
import type { Project } from '../../api/types.js';
import { keepQuery } from '../../navigation/last-view.js';
import { readView, type View, writeView } from '../../navigation/view.js';
import type { Choice } from '../../time/range.js';
import { browserZone, isZone } from '../../time/zone.js';

/** What the overview needs to know of a project to choose what it shows. A shared project has no id. */
export type Viewed = Pick<Project, 'timeZone'> & Partial<Pick<Project, 'id'>>;

/** The default zone of a project. */
export function defaultZone(project: Viewed): string {
  return project.timeZone !== null && isZone(project.timeZone) ? project.timeZone : browserZone();
}

export function useView(project: Viewed, usualChoice: Choice): [View, (change: Partial<View>) => void] {
  const [path, navigate] = useLocation();
  const query = useSearch();
  const view = useMemo(
    () => readView(new URLSearchParams(query), defaultZone(project), usualChoice),
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
