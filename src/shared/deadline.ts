/**
 * Runs `work` and rejects with `timeoutError` if it takes longer than `timeoutMs`. The work itself goes on; `signal` tells
 * it that nobody is waiting any more.
 */
export async function withDeadline<T>(
  timeoutMs: number,
  timeoutError: () => Error,
  work: (signal: AbortSignal) => Promise<T>,
): Promise<T> {
  const deadline = new AbortController();
  let timer: NodeJS.Timeout | undefined;
  const timeout = new Promise<never>((_resolve, reject) => {
    timer = setTimeout(() => {
      deadline.abort();
      reject(timeoutError());
    }, timeoutMs);
  });
  try {
    return await Promise.race([work(deadline.signal), timeout]);
  } finally {
    clearTimeout(timer);
  }
}
