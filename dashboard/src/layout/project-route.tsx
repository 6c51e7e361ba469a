/** The pages of a project, rendered once the project is known. */
import type { ComponentType } from 'react';
import { useParams } from 'wouter';
import { Failure } from '../components/feedback/notice.js';
import { type CurrentProject, useProject, useRemembered } from '../navigation/current-project.js';
import { NotFoundPage } from '../pages/not-found-page.js';
import { PageLoading } from './page-boundary.js';

export function ProjectRoute({ page }: { page: ComponentType<CurrentProject> }) {
  const { id } = useParams<{ id: string }>();
  const { found, isLoading, error } = useProject(id);
  if (found !== null) return <LoadedProject key={id} current={found} page={page} />;
  if (isLoading) return <PageLoading />;
  if (error !== null) return <Failure error={error} what="The projects could not be read." />;
  return (
    <NotFoundPage what="There is no project with this id, or you are not a member of its organization." />
  );
}

interface LoadedProjectProps {
  readonly current: CurrentProject;
  readonly page: ComponentType<CurrentProject>;
}

function LoadedProject({ current, page: Page }: LoadedProjectProps) {
  useRemembered(current);
  return <Page {...current} />;
}
