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

/**
 * Calls back once if the handler answers with a status below 400: when it ends the response, or when the connection closes
 * after the response began. If the reader has left before, it calls back as soon as the handler begins the response.
 */
export function whenAnswered(response: NodeResponse, answered: () => void): void {
  let waiting = true;
  let closed = false;
  const settle = (): void => {
    if (waiting && response.statusCode < 400) answered();
    waiting = false;
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
