/** The types of the reader are those of the server. The type checker compares them, so this file needs no run. */
import { expectTypeOf, test } from 'vitest';
import type * as client from '../../clients/javascript/src/counts.js';
import type { SeriesRequest } from '../../clients/javascript/src/reader.js';
import type { CallerCounts, CallerStats } from '../../src/domain/counting/counts.js';
import type { CsvForm, REPORT_PARAMETERS } from '../../src/domain/counting/report-request.js';
import type { Series } from '../../src/domain/counting/series.js';
import type { WeekStart } from '../../src/domain/time/calendar.js';

test('what the reader gets is what the server answers', () => {
  expectTypeOf<client.CallerStats>().branded.toEqualTypeOf<CallerStats>();
  expectTypeOf<client.CallerStatsSeries>().branded.toEqualTypeOf<Series>();
  expectTypeOf<client.Callers>().branded.toEqualTypeOf<CallerCounts>();
});

test('what the reader asks is what the server knows', () => {
  expectTypeOf<client.WeekStart>().toEqualTypeOf<WeekStart>();
  expectTypeOf<Exclude<keyof SeriesRequest, 'projectId' | 'signal'>>().toEqualTypeOf<
    // The reader does not read CSV.
    Exclude<(typeof REPORT_PARAMETERS.series)[number], keyof CsvForm>
  >();
});
