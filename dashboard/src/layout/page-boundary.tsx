/** Shows a skeleton while a page loads and a message when it fails. */
import { Component, type ReactNode, Suspense } from 'react';
import { useLocation } from 'wouter';
import { untilServerAnswers } from '../api/session.js';
import { Failure } from '../components/feedback/notice.js';
import { Loading, Skeleton } from '../components/feedback/skeleton.js';

export function PageBoundary({ children }: { children: ReactNode }) {
  const [path] = useLocation();
  return (
    <Boundary key={path}>
      <Suspense fallback={<PageLoading />}>{children}</Suspense>
    </Boundary>
  );
}

export function PageLoading() {
  return (
    <Loading what="Loading the page">
      <Skeleton shape="title" />
      <Skeleton shape="block" />
      <Skeleton shape="chart" />
    </Loading>
  );
}

class Boundary extends Component<{ children: ReactNode }, { error: Error | null }> {
  override state = { error: null };

  static getDerivedStateFromError(error: unknown): { error: Error } {
    return { error: error instanceof Error ? error : new Error(String(error)) };
  }

  override render(): ReactNode {
    const { error } = this.state;
    if (error === null) return this.props.children;
    return (
      <Failure
        error={error}
        what="This page could not be shown. Reload it; if that does not help, tell your administrator."
        onRetry={() => void untilServerAnswers().then(() => location.reload())}
      />
    );
  }
}
