/** Counts the requests of a route whose body is a list of items, by the key that sent them. */
import type { FastifyRequest } from 'fastify';
import type { IngestionMonitor } from '../../app/jobs/ingestion-monitor.js';
import {
  IMPORT_COMMAND,
  type Source,
  type SourceKind,
  sourceName,
  UNKNOWN_KEY,
} from '../../domain/ingestion/source-counts.js';
import type { ApiKey } from '../../domain/keys/api-key.js';
import { BoundedCache } from '../../shared/bounded-cache.js';
import type { RecordResult } from '../../storage/ports/store.js';
import { itemsOf } from './items.js';

/** Names of keys. */
const namesMax = 1000;

export class Arrivals {
  readonly #ingestion: IngestionMonitor;
  readonly #kind: SourceKind;
  readonly #names = new BoundedCache<string, string>(namesMax);

  constructor(ingestion: IngestionMonitor, kind: SourceKind) {
    this.#ingestion = ingestion;
    this.#kind = kind;
  }

  /** `doubtful` is how many of the queries have a time that is likely wrong. */
  noteRecorded(request: FastifyRequest, { recorded, duplicates }: RecordResult, doubtful = 0): void {
    const { project, key } = request;
    if (project === null || key === null) return;
    const refusals =
      doubtful === 0
        ? []
        : [{ reason: 'time-doubtful', keyId: key.id, requests: 0, records: doubtful } as const];
    const counts = { requests: 1, arrived: recorded + duplicates, recorded, duplicates };
    const { kind, name } = this.#sourceOf(request, key);
    // Spread into a new object, the source took a twentieth of the time of a recording.
    this.#ingestion.note(project, { kind, name, counts, refusals });
  }

  /**
   * Counts a request that was answered with an error, with the reason, for the project that this concerns. One of telemetry
   * counts for its key, too, unless it was read far enough to know its service.
   */
  noteRefused(request: FastifyRequest, rejected = 0, service?: string): void {
    const { refusal } = request;
    if (refusal === null || refusal.projectId === null) return;
    const { reasons, key, projectId } = refusal;
    const delivery = {
      ...(service === undefined ? this.#sourceOf(request, key) : { kind: this.#kind, name: service }),
      counts: { requests: 1, refused: 1, arrived: rejected, rejected },
      refusals: reasons.map((reason) => ({ reason, keyId: key?.id ?? null, requests: 1, records: 0 })),
    };
    if (key === null) this.#ingestion.noteStranger(projectId, delivery);
    else this.#ingestion.note({ id: projectId, organizationId: key.organizationId }, delivery);
  }

  /** All or nothing: one item that is refused keeps all others from being recorded. */
  noteItemsRefused(request: FastifyRequest, statusCode: number): void {
    const isOfItems = (statusCode === 400 || statusCode === 409) && request.body !== undefined;
    this.noteRefused(request, isOfItems ? itemsOf(request).length : 0);
  }

  /** Keys are named by those who created them; user agents are mostly those of a library. */
  #sourceOf({ headers }: FastifyRequest, key: ApiKey | null): Source {
    if (key === null) return { kind: this.#kind, name: UNKNOWN_KEY };
    if (headers['user-agent'] === IMPORT_COMMAND) return { kind: 'import', name: IMPORT_COMMAND };
    return { kind: this.#kind, name: this.#names.getOrCreate(key.name, () => sourceName(key.name)) };
  }
}
