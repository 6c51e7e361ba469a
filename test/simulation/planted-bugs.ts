/**
 * Bugs to plant in the product, to see that the simulation finds them. Each replaces one text of a source file, so the product has
 * no switches for tests. If the text has changed, planting it fails, and says so.
 */
import type { Replacement } from '../support/setup/planted.js';

interface PlantedBug extends Replacement {
  readonly part:
    | 'commit queue'
    | 'admission'
    | 'retries'
    | 'deadlines'
    | 'recorder'
    | 'spool'
    | 'corrections';
  readonly what: string;
}

const queue = { part: 'commit queue', file: 'src/storage/commit-queue.ts' } as const;
const admission = { part: 'admission', file: 'src/http/admission/admission.ts' } as const;
const pacedQueue = { part: 'admission', file: 'src/http/admission/paced-queue.ts' } as const;
const retries = { part: 'retries', file: 'src/shared/retry.ts' } as const;
const backoff = { part: 'retries', file: 'clients/javascript/src/delivery.ts' } as const;
const deadline = { part: 'deadlines', file: 'src/shared/deadline.ts' } as const;
const deadlines = { part: 'deadlines', file: 'src/http/connection/deadlines.ts' } as const;
const recorder = { part: 'recorder', file: 'clients/javascript/src/recorder.ts' } as const;
const spool = { part: 'spool', file: 'clients/javascript/src/spool.ts' } as const;
const planner = { part: 'corrections', file: 'src/storage/sql/corrections/planner.ts' } as const;

/** The first one of each part is found soon. */
export const PLANTED_BUGS: readonly PlantedBug[] = [
  {
    ...queue,
    what: 'acknowledges operations whose commit failed',
    text: 'for (const pending of group) pending.reject(error);',
    by: 'for (const pending of group) pending.resolve({ recorded: pending.weight, duplicates: 0 } as never);',
  },
  {
    ...queue,
    what: 'answers each operation of a group with the outcome of the first',
    text: 'settle(pending, outcomes[index])',
    by: 'settle(pending, outcomes[0 * index])',
  },
  {
    ...queue,
    what: 'forgets one operation after each group',
    text: 'this.#waiting = this.#waiting.slice(size);',
    by: 'this.#waiting = this.#waiting.slice(size + 1);',
  },
  {
    ...queue,
    what: 'never removes anything from the backlog',
    text: 'this.#backlog.remove(size, queries);',
    by: '',
  },
  {
    ...queue,
    what: 'commits the next group before the last one is done',
    text: 'this.#draining ??= this.#drain();',
    by: 'this.#draining = this.#drain();',
  },
  {
    ...queue,
    what: 'closes without waiting for accepted operations',
    text: 'await this.#draining;',
    by: '',
  },
  {
    ...queue,
    what: 'counts one operation more than it may',
    text: 'this.#operations >= pendingOperationsMax',
    by: 'this.#operations > pendingOperationsMax',
  },
  {
    ...admission,
    what: 'never notices the end of a recording',
    text: 'this.#load[request.countedAs]--;',
    by: '',
  },
  {
    ...admission,
    what: 'keeps the bytes of refused bodies',
    text: 'if (bytes !== undefined) this.#load[bytes] -= request.bodyBytes ?? 0;',
    by: 'if (bytes !== undefined && reply.statusCode === 200) this.#load[bytes] -= request.bodyBytes ?? 0;',
  },
  {
    ...admission,
    what: 'refuses nothing because of the load',
    text: 'if (refusal !== undefined)',
    by: 'if (refusal === "")',
  },
  {
    ...pacedQueue,
    what: 'stops after the first portion',
    text: 'if (this.#waiting.length > 0) this.#schedule();',
    by: '',
  },
  {
    ...pacedQueue,
    what: 'forgets those who wait in the same portion as others',
    text: 'for (const { go } of this.#waiting.splice(0, count)) go();',
    by: 'for (const { go } of this.#waiting.splice(0, count).slice(0, 1)) go();',
  },
  {
    ...backoff,
    what: 'does not wait as long as the server asks for',
    text: 'return retryAfterMs + random * retryBaseMs;',
    by: 'return random * (retryAfterMs + retryBaseMs);',
  },
  {
    ...retries,
    what: 'tries again after the end of a wait that was aborted',
    text: 'if (signal?.aborted) throw thrown;',
    by: '',
  },
  {
    ...retries,
    what: 'tries once more than it may',
    text: 'attempt >= attemptsMax',
    by: 'attempt > attemptsMax',
  },
  {
    ...retries,
    what: 'takes a failed attempt for a success',
    text: 'if (attempt >= attemptsMax || signal?.aborted || !isRetryable(error)) throw thrown;',
    by: 'if (attempt >= attemptsMax || signal?.aborted || !isRetryable(error)) return [] as T;',
  },
  {
    ...deadlines,
    what: 'waits for ever for clients that do not read',
    text: 'exchange.unreadChecks++;',
    by: '',
  },
  {
    ...deadlines,
    what: 'never counts the checks without a response',
    text: 'exchange.unansweredChecks++;',
    by: '',
  },
  {
    ...deadline,
    what: 'passes without an error',
    text: 'reject(timeoutError());',
    by: '',
  },
  {
    ...deadline,
    what: 'does not abort the work when it passes',
    text: 'deadline.abort();',
    by: '',
  },
  {
    ...deadlines,
    what: 'closes connections that wait for their response when the server stops',
    text: 'request.complete && !response.writableEnded,',
    by: '!request.complete && !response.writableEnded,',
  },
  {
    ...recorder,
    what: 'forgets the second half of a batch that failed',
    text: 'this.#queue = [...this.#batch.splice(this.#batchSize), ...this.#queue];',
    by: 'this.#batch.splice(this.#batchSize);',
  },
  {
    ...recorder,
    what: 'believes any response with the status 200',
    text: 'if (recorded + duplicates === batch.length) return',
    by: 'if (batch.length > 0) return',
  },
  {
    ...recorder,
    what: 'tells the spool that what is in progress is settled',
    text: 'await this.#deliver();',
    by: 'this.#withSpool((spool) => spool.settle(this.#queue)); await this.#deliver();',
  },
  {
    ...recorder,
    what: 'resolves a flush that is not over',
    text: 'if (left === 0) resolve(true);',
    by: 'if (left < 2) resolve(true);',
  },
  {
    ...recorder,
    what: 'queues one query more than it may',
    text: 'else if (waiting < this.#settings.queueMax)',
    by: 'else if (waiting <= this.#settings.queueMax)',
  },
  {
    ...spool,
    what: 'does not sync what it appends',
    text: 'if (this.#fsync) fsyncSync(this.#file);',
    by: '',
  },
  {
    ...spool,
    what: 'appends to an incomplete line',
    text: 'const line = this.#isCut ?',
    by: 'const line = this.#lines < 0 ?',
  },
  {
    ...spool,
    what: 'is emptied when its queries are not settled',
    text: 'if (waiting.length === 0) {',
    by: 'if (waiting.length < 2) {',
  },
  {
    ...spool,
    what: 'removes files before the next one is on disk',
    text: 'fsyncSync(file);',
    by: '',
  },
  {
    ...spool,
    what: 'does not sync its name',
    text: 'if (this.#isNamed) return;',
    by: 'if (this.#lines >= 0) return;',
  },
  {
    ...spool,
    what: 'does not end an incomplete line after a failed fsync',
    text: 'if (this.#fsync) fsyncSync(this.#file);\n    this.#isCut = false;',
    by: 'this.#isCut = false;\n    if (this.#fsync) fsyncSync(this.#file);',
  },
  {
    ...spool,
    what: 'respects the lock of another place for ever',
    text: ' || nowMs - statSync(lock).mtimeMs > goneMs;',
    by: ';',
  },
  {
    ...spool,
    what: 'removes what it adopts before it is settled',
    text: "const queries = parseLines(readFileSync(path, 'utf8'));",
    by: "const queries = parseLines(readFileSync(path, 'utf8')); rmSync(path);",
  },
  {
    ...spool,
    what: 'leaves the next file open if it cannot be written',
    text: 'closeSync(file);',
    by: '',
  },
  {
    ...planner,
    what: 'corrects what was recorded after it was accepted',
    text: 'receipt.number <= receiptsTo && ',
    by: '',
  },
];
