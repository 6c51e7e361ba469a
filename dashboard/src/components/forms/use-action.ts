/** Runs the action of a button: tells whether it is running, and shows a message if it fails. */
import { useMutation } from '@tanstack/react-query';
import { toast } from '../feedback/toasts.js';

export interface Action {
  readonly run: (work: () => Promise<unknown>, done?: string) => void;
  readonly isBusy: boolean;
}

/** `run` shows the message `done` on success, and the error otherwise. */
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
