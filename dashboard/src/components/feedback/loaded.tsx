/** What a request returns: until then a placeholder, or the error of the request. */
import type { ReactNode } from 'react';
import { Failure } from './notice.js';
import { LoadingRows } from './skeleton.js';

interface LoadedProps<T> {
  readonly query: { readonly data: T | undefined; readonly error: Error | null; refetch(): Promise<unknown> };
  /** What is loaded: `The keys`. */
  readonly what: string;
  /** Of the placeholder. */
  readonly rows: number;
  readonly children: (data: T) => ReactNode;
}

export function Loaded<T>({ query: { data, error, refetch }, what, rows, children }: LoadedProps<T>) {
  if (data !== undefined) return children(data);
  if (error !== null)
    return <Failure error={error} what={`${what} could not be read.`} onRetry={() => void refetch()} />;
  return <LoadingRows what={`Loading ${what.charAt(0).toLowerCase()}${what.slice(1)}`} rows={rows} />;
}
