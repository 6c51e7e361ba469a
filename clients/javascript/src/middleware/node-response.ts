/** A response of Node's HTTP server. */
export interface NodeResponse {
  readonly statusCode: number;
  readonly headersSent: boolean;
  readonly destroyed: boolean;
  on(event: 'close', listener: () => void): unknown;
  writeHead(...args: never[]): unknown;
  write(...args: never[]): unknown;
  end(...args: never[]): unknown;
}

/** The functions to call for each response. */
const waiting = new WeakMap<NodeResponse, (() => void)[]>();

/**
 * Calls back once if the handler answers with a status below 400: when it ends the response, or when the connection closes
 * after the response began. If the reader has left before, it calls back as soon as the handler begins the response. The last
 * one that was passed for a response is called first: that of the router, which knows more than that of its app.
 */
export function whenAnswered(response: NodeResponse, answered: () => void): void {
  const others = waiting.get(response);
  if (others) return void others.unshift(answered);
  const all = [answered];
  waiting.set(response, all);
  let closed = false;
  const settle = (): void => {
    for (const one of all.splice(0)) if (response.statusCode < 400) one();
  };
  // After the reader has left, a response emits no public events.
  for (const name of ['writeHead', 'write', 'end'] as const) {
    const original = response[name];
    response[name] = (...args) => {
      const result = original.apply(response, args);
      if (closed || name === 'end') settle();
      return result;
    };
  }
  response.on('close', () => {
    closed = true;
    if (response.headersSent) settle();
  });
}
