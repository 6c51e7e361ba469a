/** Clients of several languages, which read every refusal of a large body, however they send it. */
import { whenOver } from '../../support/cleanup.js';
import type { HttpClient, LargeRequest } from '../../support/clients/clients.js';
import { createRefusals, REFUSALS, type RefusalName } from '../../support/clients/refusals.js';
import type { Row } from './row.js';

const megabyte = 1_000_000;
const tooLarge: RefusalName = 'a body over the limit';

export function largeBodyRows(clients: readonly HttpClient[]): Row[] {
  return clients.flatMap((client): Row[] => {
    const sent = requestsOf(client, [tooLarge], [11, 30, 100]);
    const others = REFUSALS.filter((what) => what !== tooLarge);
    const sentOthers = requestsOf(client, others, [30]);
    return [
      {
        setup: `${client.name} reads 413 after sending 11, 30 and 100 MB`,
        correct: sent.length,
        count: () => countReadable(client, sent),
      },
      {
        setup: `${client.name} reads every other refusal after sending 30 MB`,
        correct: sentOthers.length,
        count: () => countReadable(client, sentOthers),
      },
    ];
  });
}

interface Sent extends Pick<LargeRequest, 'headers' | 'framing' | 'bytes'> {
  readonly what: RefusalName;
}

function requestsOf(
  client: HttpClient,
  refusals: readonly RefusalName[],
  megabytes: readonly number[],
): Sent[] {
  const sendsWithGet = !['fetch', 'HttpURLConnection'].includes(client.name);
  return refusals
    .filter((what) => sendsWithGet || what !== 'a body where none is needed')
    .flatMap((what) => megabytes.map((number) => ({ what, bytes: number * megabyte })))
    .flatMap((one) => variants(client).map((variant) => ({ ...one, ...variant })));
}

/** The ways to send a body. */
function variants({ canExpect }: HttpClient) {
  const headers: Record<string, string>[] = [{}, { Connection: 'close' }];
  if (canExpect) headers.push({ Expect: '100-continue' });
  return headers.flatMap((more) =>
    (['length', 'chunked'] as const).map((framing) => ({ headers: more, framing })),
  );
}

/** Sends the requests, and returns for how many the client could read the response. Prints the others. */
async function countReadable(client: HttpClient, sent: readonly Sent[]): Promise<number> {
  const refusals = await createRefusals(whenOver);
  const requests = sent.map(({ what, headers, ...more }): LargeRequest => {
    const { request } = refusals[what];
    return { ...request, ...more, headers: { ...request.headers, ...headers } };
  });
  const answers = await client.send(requests);
  const unread = sent.filter(({ what }, at) => {
    const { status = 0, body = '' } = answers[at] ?? {};
    return status !== refusals[what].status || !isReadable(client, status, body);
  });
  for (const one of unread) process.stderr.write(`${client.name} cannot read: ${JSON.stringify(one)}\n`);
  return sent.length - unread.length;
}

function isReadable({ name }: HttpClient, status: number, body: string): boolean {
  // This client does not show the body of a 401 after it has sent a body.
  if (name === 'HttpURLConnection' && status === 401) return body === '';
  return /^\{"(error|web)":/.test(body);
}
