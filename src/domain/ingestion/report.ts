/** What arrived at a project lately, by source, as the API and the dashboard show it. */
import type { IngestionCounts, Source } from './source-counts.js';

interface UnmatchedValue {
  readonly attribute: string;
  readonly value: string;
  readonly count: number;
  /** The setting `--otlp-query` that also accepts these; null if none is needed or possible. */
  readonly otlpQuery: string | null;
}

export interface SourceWindow extends IngestionCounts {
  /** Of those that matched no rule, most first. */
  readonly unmatchedValues: readonly UnmatchedValue[];
}

interface SourceReport extends Source {
  readonly lastSeenAt: string;
  readonly lastHour: SourceWindow;
  readonly lastDay: SourceWindow;
}

export interface IngestionReport {
  /** When the hour and the day begin that are counted. Both end now. */
  readonly hourFrom: string;
  readonly dayFrom: string;
  /** The setting `--otlp-query` that is in effect. */
  readonly otlpQuery: string;
  readonly sources: readonly SourceReport[];
}
