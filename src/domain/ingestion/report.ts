/** What arrived at a project lately, by source, as the API and the dashboard show it. */
import type { UnmatchedValue } from './operations.js';
import type { RefusalReason } from './refusals.js';
import type { IngestionCounts, Source } from './source-counts.js';

export interface SourceWindow extends IngestionCounts {
  /** Of those that matched no rule: first those with a rule, then most first. */
  readonly unmatchedValues: readonly UnmatchedValue[];
}

export interface RefusalReport {
  readonly reason: RefusalReason;
  /** The id of the key; null if none is known. */
  readonly key: string | null;
  /** Why, as a sentence, and what the sender does about it. */
  readonly message: string;
  readonly remedy: string;
  /** Whether queries are lost if nobody does: what clients repeat is not, and everybody can cause `key-unknown`. */
  readonly isLoss: boolean;
  /** Refused requests, and rejected records of others, of the last seven days. */
  readonly requests: number;
  readonly records: number;
  /** When the last one was, at most five minutes late. */
  readonly lastAt: string;
}

interface SourceReport extends Source {
  readonly lastSeenAt: string;
  /** The last ones first. */
  readonly refusals: readonly RefusalReport[];
  readonly lastHour: SourceWindow;
  readonly lastDay: SourceWindow;
}

interface ExpiringKey {
  readonly id: string;
  readonly name: string;
  readonly expiresAt: string;
  readonly lastUsedAt: string | null;
}

export interface IngestionReport {
  /** When the hour and the day begin that are counted. Both end now. */
  readonly hourFrom: string;
  readonly dayFrom: string;
  /** The setting `--otlp-query` that is in effect. */
  readonly otlpQuery: string;
  readonly sources: readonly SourceReport[];
  /** Keys in use that may record into the project and expire soon, the first one at the start. */
  readonly expiringKeys: readonly ExpiringKey[];
}
