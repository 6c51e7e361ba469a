/** Around every page: shapes while it is loaded, and words when it breaks. */
import { Component, type ReactNode, Suspense } from 'react';
import { useLocation } from 'wouter';
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
        what="This page could not be shown. Load it again; if that does not help, tell whoever runs the server."
        onRetry={() => location.reload()}
      />
    );
  }
}
