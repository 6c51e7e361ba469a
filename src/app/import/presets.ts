/**
 * The exports of other systems: where their records have what a query needs. To add one, add it here and a sample to
 * `test/samples/exports`, which says where its form comes from.
 */
import type { TimeFormat } from '../../domain/time/timestamp-formats.js';

export interface Preset {
  /** For the help. */
  readonly what: string;
  /** Undefined: JSON, one object per line or not. */
  readonly base?: 'csv' | 'json';
  /** The array of the records in each object, as `--records`. */
  readonly records?: readonly string[];
  /** The field with the unique id; undefined if the export has none, so that ids are made of the records. */
  readonly id?: string;
  readonly occurredAt: string;
  readonly timeFormat: TimeFormat;
  /** The field that names events; undefined if every record is a query. */
  readonly event?: string;
  /** What other fields must be. */
  readonly where?: Readonly<Record<string, string>>;
}

/** By the name of `--format`. */
export const PRESETS = {
  // GoatCounter 2.7, export version 2, which the name of the first column begins with. Read from its source in August 2026.
  goatcounter: {
    what: "GoatCounter's CSV",
    base: 'csv',
    occurredAt: 'Date',
    timeFormat: 'rfc3339',
    event: '2Path',
    where: { Event: 'true', Bot: '0' },
  },
  // Umami Cloud's website_event.csv, and the table website_event of Umami 3.1. Read in May 2026.
  umami: {
    what: 'website_event.csv of Umami',
    base: 'csv',
    id: 'event_id',
    occurredAt: 'created_at',
    timeFormat: 'utc',
    event: 'event_name',
    where: { event_type: '2' },
  },
  // Batch exports of events to files, in JSON lines. Read from PostHog's source and documentation in 2026.
  posthog: {
    what: "JSON lines of PostHog's batch exports",
    id: 'uuid',
    occurredAt: 'timestamp',
    timeFormat: 'utc',
    event: 'event',
  },
  // `GET /v1/analytics/{projectId}/assistant`, version 1.0.0 of its OpenAPI document, read in November 2026.
  conversations: {
    what: "conversations of a documentation platform's assistant",
    base: 'json',
    records: ['conversations'],
    id: 'id',
    occurredAt: 'timestamp',
    timeFormat: 'utc',
  },
} as const satisfies Readonly<Record<string, Preset>>;

export type PresetName = keyof typeof PRESETS;

export function findPreset(format: string | undefined): Preset | undefined {
  return isPresetName(format) ? PRESETS[format] : undefined;
}

export function isPresetName(format: string | undefined): format is PresetName {
  return format !== undefined && Object.hasOwn(PRESETS, format);
}
