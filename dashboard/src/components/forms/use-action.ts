/** Something that a button does: whether it is at it, and words for when it fails. */
import { useMutation } from '@tanstack/react-query';
import { toast } from '../feedback/toasts.js';

export interface Action {
  readonly run: (work: () => Promise<unknown>, done?: string) => void;
  readonly isBusy: boolean;
}

/** `run` says `done` when the work is done, and what went wrong when it is not. */
export function useAction(): Action {
  const { mutate, isPending } = useMutation({
    mutationFn: ({ work }: { work: () => Promise<unknown>; done?: string }) => work(),
    onSuccess: (_answer, { done }) => {
      if (done !== undefined) toast(done);
    },
    onError: (error) => toast(error.message, 'danger'),
  });
  return {
    run: (work, done) => {
      if (!isPending) mutate({ work, ...(done === undefined ? {} : { done }) });
    },
    isBusy: isPending,
  };
}
