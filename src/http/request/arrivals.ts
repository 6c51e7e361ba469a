/** Counts the requests of a route whose body is a list of items, by the key that sent them. */
import type { FastifyRequest } from 'fastify';
import type { IngestionMonitor } from '../../app/jobs/ingestion-monitor.js';
import {
  type Delivery,
  IMPORT_COMMAND,
  type Source,
  type SourceKind,
  sourceName,
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

  noteRecorded(request: FastifyRequest, { recorded, duplicates }: RecordResult): void {
    this.#note(request, { arrived: recorded + duplicates, recorded, duplicates });
  }

  /** All or nothing: one item that is refused keeps all others from being recorded. */
  noteRefused(request: FastifyRequest, statusCode: number): void {
    const isOfItems = (statusCode === 400 || statusCode === 409) && request.body !== undefined;
    const rejected = isOfItems ? itemsOf(request).length : 0;
    this.#note(request, { refused: 1, arrived: rejected, rejected });
  }

  #note(request: FastifyRequest, counts: Delivery['counts']): void {
    const { project, key } = request;
    if (project === null || key === null) return;
    const source = this.#sourceOf(request, key);
    this.#ingestion.note(project.id, { ...source, counts: { requests: 1, ...counts } });
  }

  /** Keys are named by those who created them; user agents are mostly those of a library. */
  #sourceOf({ headers }: FastifyRequest, key: ApiKey): Source {
    if (headers['user-agent'] === IMPORT_COMMAND) return { kind: 'import', name: IMPORT_COMMAND };
    return { kind: this.#kind, name: this.#names.getOrCreate(key.name, () => sourceName(key.name)) };
  }
}
