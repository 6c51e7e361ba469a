/** A model of the server for laws of the recorder: idempotent, all or nothing, with failures from a script. */
import type { QueuedQuery } from '../../../clients/javascript/src/query.js';
import { answer, never } from './client-platform.js';

/** What happens to a request. `lost` records it and loses the response; `late` responds after the timeout. */
export type Trouble = 'none' | 'lost' | 'late' | 'reset' | 'never' | 'vague' | 'garbage' | 'foreign' | number;

/** Queries with this caller are refused. */
export const BAD = 'bad';

export class ModelServer {
  readonly times = new Map<string, string>();
  readonly batchMax: number;
  /** Whether it closes the connection instead of answering that a batch is too large. */
  readonly #closes: boolean;
  atOnce = 0;
  atOnceMax = 0;
  requests = 0;
  readonly #troubles: Trouble[];

  constructor(troubles: readonly Trouble[], batchMax: number, closes = false) {
    this.#closes = closes;
    this.#troubles = [...troubles];
    this.batchMax = batchMax;
  }

  readonly fetch = async (_url: string, { body, signal }: RequestInit): Promise<Response> => {
    this.requests++;
    this.atOnce++;
    this.atOnceMax = Math.max(this.atOnceMax, this.atOnce);
    try {
      return await this.#answer(JSON.parse(String(body)) as QueuedQuery[], signal);
    } finally {
      this.atOnce--;
    }
  };

  async #answer(queries: readonly QueuedQuery[], signal: AbortSignal | null | undefined): Promise<Response> {
    const trouble = this.#troubles.shift() ?? 'none';
    if (trouble === 'reset') throw new TypeError('fetch failed');
    if (trouble === 'never') return never(signal);
    if (trouble === 'vague') return answer(400, { error: 'No.' });
    if (trouble === 'garbage') return new Response('<html>Log in</html>');
    if (trouble === 'foreign') return answer(200, { recorded: queries.length, duplicates: 1 });
    if (typeof trouble === 'number') return answer(trouble, { error: 'No.' }, { 'retry-after': '2' });
    if (queries.length > this.batchMax) return this.#refuseSize();
    const details = queries.flatMap(({ caller }, at) =>
      caller === BAD ? [{ message: `queries[${at}]: caller: is bad` }] : [],
    );
    if (details.length > 0) return answer(400, { error: 'Nothing was recorded.', details });
    const before = this.times.size;
    for (const { id, occurredAt } of queries) if (!this.times.has(id)) this.times.set(id, occurredAt);
    const recorded = this.times.size - before;
    if (trouble === 'lost') throw new TypeError('fetch failed');
    if (trouble === 'late') await never(signal).catch(() => {});
    return answer(200, { recorded, duplicates: queries.length - recorded });
  }

  #refuseSize(): Response {
    if (this.#closes) throw new TypeError('fetch failed');
    return answer(413, { error: 'Too many.' });
  }
}
