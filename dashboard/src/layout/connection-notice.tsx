/** Shows a notice while the server is unreachable. */
import { useQueryClient } from '@tanstack/react-query';
import { useSyncExternalStore } from 'react';
import { ApiError } from '../api/client.js';
import { Notice } from '../components/feedback/notice.js';

export function ConnectionNotice() {
  const isAway = useUnreachable();
  return (
    <div className="connection" role="status">
      {isAway && (
        <Notice kind="warn">
          <p>
            <strong>The server cannot be reached.</strong> This page may be out of date. It updates by itself
            as soon as the server answers.
          </p>
        </Notice>
      )}
    </div>
  );
}

/** Whether any visible query is waiting for an unreachable server. */
function useUnreachable(): boolean {
  const cache = useQueryClient().getQueryCache();
  return useSyncExternalStore(
    (listener) => {
      const stop = cache.subscribe(listener);
      addEventListener('offline', listener);
      addEventListener('online', listener);
      return () => {
        stop();
        removeEventListener('offline', listener);
        removeEventListener('online', listener);
      };
    },
    () => cache.getAll().some((query) => query.isActive() && isNoAnswer(query.state.fetchFailureReason)),
  );
}

function isNoAnswer(error: unknown): boolean {
  return error instanceof ApiError && error.status === 0;
}
