/** Made of the OpenAPI document of the service by openapi-typescript: what each operation takes and answers. */
export interface paths {
    readonly "/v1/analytics/{projectId}/assistant/caller-stats": {
        readonly parameters: {
            readonly query?: never;
            readonly header?: never;
            readonly path?: never;
            readonly cookie?: never;
        };
        /**
         * Assistant caller stats
         * @description Counts the queries that the project's assistant got, by the type of their caller, in the half-open range [dateFrom, dateTo).
         */
        readonly get: operations["getCallerStats"];
        readonly put?: never;
        readonly post?: never;
        readonly delete?: never;
        readonly options?: never;
        readonly head?: never;
        readonly patch?: never;
        readonly trace?: never;
    };
    readonly "/v1/analytics/{projectId}/assistant/caller-stats/series": {
        readonly parameters: {
            readonly query?: never;
            readonly header?: never;
            readonly path?: never;
            readonly cookie?: never;
        };
        /**
         * Assistant caller stats over time
         * @description Counts the queries that the project's assistant got, by the type of their caller, in each hour, day, week, month, quarter or year of a time zone. The buckets cover the range without gaps or overlaps. The first and the last bucket are clipped to the range. The buckets add up to the caller stats of the same range. Without `dateFrom`, the range starts with the first bucket that has a query; without `dateTo`, it ends with the last one. At most 10000 buckets. CSV for `Accept: text/csv`: by caller, with a column for each caller and one for the rest.
         */
        readonly get: operations["getCallerStatsSeries"];
        readonly put?: never;
        readonly post?: never;
        readonly delete?: never;
        readonly options?: never;
        readonly head?: never;
        readonly patch?: never;
        readonly trace?: never;
    };
    readonly "/v1/analytics/{projectId}/assistant/callers": {
        readonly parameters: {
            readonly query?: never;
            readonly header?: never;
            readonly path?: never;
            readonly cookie?: never;
        };
        /**
         * Assistant callers
         * @description Counts the queries that the project's assistant got, by caller, in the half-open range [dateFrom, dateTo): the name, type and count of each caller with queries, largest count first, then by name. They add up to the caller stats of the same range. CSV for `Accept: text/csv`.
         */
        readonly get: operations["getCallers"];
        readonly put?: never;
        readonly post?: never;
        readonly delete?: never;
        readonly options?: never;
        readonly head?: never;
        readonly patch?: never;
        readonly trace?: never;
    };
}
export type webhooks = Record<string, never>;
export interface components {
    schemas: {
        /** @description Every error has this shape. */
        readonly Error: {
            /** @description The problem, and how to solve it. */
            readonly error: string;
            /** @description One message for each problem. */
            readonly details?: readonly {
                readonly message: string;
            }[];
        };
        /** @description The number of queries that the project's assistant got, by the type of their caller. */
        readonly CallerStats: {
            /** @description Queries from the documentation site. */
            readonly web: number;
            /** @description Queries from direct API calls. */
            readonly api: number;
            /** @description Queries from other sources, such as integrations and SDKs. */
            readonly other: number;
            /** @description The sum of all caller types. */
            readonly total: number;
            /** @description The counts of the range that `compare` asks for. */
            readonly previous?: {
                /** @description Queries from the documentation site. */
                readonly web: number;
                /** @description Queries from direct API calls. */
                readonly api: number;
                /** @description Queries from other sources, such as integrations and SDKs. */
                readonly other: number;
                /** @description The sum of all caller types. */
                readonly total: number;
                /** @description Start of that range, inclusive, with the time zone's offset at that time. */
                readonly dateFrom: string;
                /** @description End of that range, exclusive. */
                readonly dateTo: string;
            };
        };
        /** @description The number of queries that the project's assistant got over time, by the type of their caller. */
        readonly CallerStatsSeries: {
            /**
             * @description The length of the buckets.
             * @enum {unknown}
             */
            readonly interval: "hour" | "day" | "week" | "month" | "quarter" | "year";
            /** @description The time zone of the calendar. */
            readonly timeZone: string;
            /** @description In order of time, including buckets without queries. */
            readonly buckets: readonly {
                /** @description Start of the bucket, inclusive, with the time zone's offset at that time. */
                readonly start: string;
                /** @description End of the bucket, exclusive, and the start of the next. */
                readonly end: string;
                /** @description Queries from the documentation site. */
                readonly web: number;
                /** @description Queries from direct API calls. */
                readonly api: number;
                /** @description Queries from other sources, such as integrations and SDKs. */
                readonly other: number;
                /** @description The sum of all caller types. */
                readonly total: number;
                /** @description With `compare`: the counts of the counterpart of the bucket in the other range; null if it has none, such as February 30, or an hour that a clock change skips or repeats. */
                readonly previous?: {
                    /** @description Start of the counterpart, inclusive. */
                    readonly start: string;
                    /** @description End of the counterpart, exclusive. */
                    readonly end: string;
                    /** @description Queries from the documentation site. */
                    readonly web: number;
                    /** @description Queries from direct API calls. */
                    readonly api: number;
                    /** @description Queries from other sources, such as integrations and SDKs. */
                    readonly other: number;
                    /** @description The sum of all caller types. */
                    readonly total: number;
                } | null;
            }[];
            /** @description With `by=caller`: the 20 busiest callers, largest count first, then by name. */
            readonly callers?: readonly {
                /** @description `web`, `api`, or the name of an integration or SDK. */
                readonly caller: string;
                /**
                 * @description The type of the caller.
                 * @enum {unknown}
                 */
                readonly type: "web" | "api" | "other";
                /** @description The number of its queries. */
                readonly count: number;
                /** @description A number for each bucket, in the same order. */
                readonly counts: readonly number[];
            }[];
            /** @description With `by=caller`: all other callers together. */
            readonly rest?: {
                /** @description How many callers these are. */
                readonly callers: number;
                /** @description The number of their queries. */
                readonly count: number;
                /** @description A number for each bucket, in the same order. */
                readonly counts: readonly number[];
            };
            /** @description The counts of the range that `compare` asks for. */
            readonly previous?: {
                /** @description Queries from the documentation site. */
                readonly web: number;
                /** @description Queries from direct API calls. */
                readonly api: number;
                /** @description Queries from other sources, such as integrations and SDKs. */
                readonly other: number;
                /** @description The sum of all caller types. */
                readonly total: number;
                /** @description Start of that range, inclusive, with the time zone's offset at that time. */
                readonly dateFrom: string;
                /** @description End of that range, exclusive. */
                readonly dateTo: string;
            };
        };
        /** @description The number of queries that the project's assistant got from each caller. */
        readonly Callers: {
            /** @description The sum of all callers. */
            readonly total: number;
            /** @description All callers with queries, largest count first, then by name. */
            readonly callers: readonly {
                /** @description `web`, `api`, or the name of an integration or SDK. */
                readonly caller: string;
                /**
                 * @description The type of the caller.
                 * @enum {unknown}
                 */
                readonly type: "web" | "api" | "other";
                /** @description The number of its queries. */
                readonly count: number;
            }[];
            /** @description The counts of the range that `compare` asks for. */
            readonly previous?: {
                /** @description Queries from the documentation site. */
                readonly web: number;
                /** @description Queries from direct API calls. */
                readonly api: number;
                /** @description Queries from other sources, such as integrations and SDKs. */
                readonly other: number;
                /** @description The sum of all caller types. */
                readonly total: number;
                /** @description Start of that range, inclusive, with the time zone's offset at that time. */
                readonly dateFrom: string;
                /** @description End of that range, exclusive. */
                readonly dateTo: string;
            };
        };
        /** @description One question that somebody asked the assistant. */
        readonly Query: {
            /**
             * @description The sender's own message or turn id, unique within the project and case-sensitive. UUIDv7 is best. No NUL character.
             * @example question-1
             */
            readonly id: string;
            /**
             * @description `web`, `api`, or the name of an integration or SDK, which counts as other.
             * @example web
             */
            readonly caller: string;
            /** @description RFC 3339, with seconds and offset. Default: the time of receipt. Truncated to milliseconds. At most a day ahead of the server. */
            readonly occurredAt?: string;
        };
        /** @description The result of a recording request. The two numbers add up to the number of its queries. */
        readonly RecordResult: {
            /** @description New queries, which are now on disk. */
            readonly recorded: number;
            /** @description Queries whose id was already recorded in the project, or that occur twice in the request. */
            readonly duplicates: number;
        };
        /** @description What arrived for a project lately, and what became of it. */
        readonly Ingestion: {
            /** @description Start of the last hour, which is counted in steps of five minutes. */
            readonly hourFrom: string;
            /** @description Start of the last day. */
            readonly dayFrom: string;
            /** @description The setting `--otlp-query` that is in effect for the project. */
            readonly otlpQuery: string;
            /** @description The sources of the last seven days, the one that was seen last first. */
            readonly sources: readonly {
                /**
                 * @description What the source sends.
                 * @enum {unknown}
                 */
                readonly kind: "traces" | "logs" | "queries" | "import";
                /** @description The service of spans and log records, the name of the key of queries, or the command. */
                readonly name: string;
                /** @description When something last came from it. */
                readonly lastSeenAt: string;
                readonly lastHour: {
                    /** @description Requests, or runs of a command. */
                    readonly requests: number;
                    /** @description Requests that were answered with an error. */
                    readonly refused: number;
                    /** @description Spans, log records, queries or lines: the sum of the four below. Of a refused request only what its error counts. */
                    readonly arrived: number;
                    /** @description New queries. */
                    readonly recorded: number;
                    /** @description Those of queries that were recorded already, by another span of the same question for example. */
                    readonly duplicates: number;
                    /** @description Invalid ones, and those that an invalid one of the same request kept from being recorded. */
                    readonly rejected: number;
                    /** @description Spans and log records that match no rule, and lines that are no queries. */
                    readonly unmatched: number;
                    /** @description What those that match no rule are, most first. */
                    readonly unmatchedValues: readonly {
                        /** @description An attribute that names operations, such as `gen_ai.operation.name`. */
                        readonly attribute: string;
                        /** @description Its value. */
                        readonly value: string;
                        /** @description How many records have it. */
                        readonly count: number;
                        /** @description The setting `--otlp-query` that would accept them as well; null if there should be none. */
                        readonly otlpQuery: string | null;
                    }[];
                };
                readonly lastDay: {
                    /** @description Requests, or runs of a command. */
                    readonly requests: number;
                    /** @description Requests that were answered with an error. */
                    readonly refused: number;
                    /** @description Spans, log records, queries or lines: the sum of the four below. Of a refused request only what its error counts. */
                    readonly arrived: number;
                    /** @description New queries. */
                    readonly recorded: number;
                    /** @description Those of queries that were recorded already, by another span of the same question for example. */
                    readonly duplicates: number;
                    /** @description Invalid ones, and those that an invalid one of the same request kept from being recorded. */
                    readonly rejected: number;
                    /** @description Spans and log records that match no rule, and lines that are no queries. */
                    readonly unmatched: number;
                    /** @description What those that match no rule are, most first. */
                    readonly unmatchedValues: readonly {
                        /** @description An attribute that names operations, such as `gen_ai.operation.name`. */
                        readonly attribute: string;
                        /** @description Its value. */
                        readonly value: string;
                        /** @description How many records have it. */
                        readonly count: number;
                        /** @description The setting `--otlp-query` that would accept them as well; null if there should be none. */
                        readonly otlpQuery: string | null;
                    }[];
                };
            }[];
        };
        /** @description How many queries a caller sent within a span of time, as another system counted them. */
        readonly ImportedCount: {
            /**
             * @description The name of that system, such as its URL. Counts of different sources add up.
             * @example old-service
             */
            readonly source: string;
            /**
             * @description `web`, `api`, or the name of an integration or SDK, which counts as other.
             * @example web
             */
            readonly caller: string;
            /**
             * @description Start of the span, inclusive: RFC 3339, with seconds and offset. Its queries count at this time.
             * @example 2026-01-01T00:00:00Z
             */
            readonly start: string;
            /**
             * @description End of the span, exclusive, at most 367 days after its start.
             * @example 2026-02-01T00:00:00Z
             */
            readonly end: string;
            /** @description The number of queries in the span. */
            readonly count: number;
        };
        /** @description The result of an import. The two numbers add up to the number of its counts. */
        readonly ImportResult: {
            /** @description New counts, which are now on disk, or would be if this was not a dry run. */
            readonly recorded: number;
            /** @description Counts that were imported before, or that occur twice in the request. */
            readonly duplicates: number;
        };
        /** @description The imported counts whose spans begin before a bound of the range and end after it. All their queries count at the start of their span, so none of them are within a range that begins there, and all within one that ends there. */
        readonly CutBounds: {
            /** @description Those that the start of the range cuts; null if there are none. */
            readonly dateFrom: {
                /** @description Start of the first of these spans. */
                readonly start: string;
                /** @description End of the last of them. */
                readonly end: string;
                /** @description Their queries. */
                readonly count: number;
            } | null;
            /** @description Those that its end cuts. */
            readonly dateTo: {
                /** @description Start of the first of these spans. */
                readonly start: string;
                /** @description End of the last of them. */
                readonly end: string;
                /** @description Their queries. */
                readonly count: number;
            } | null;
        };
        /** @description All recorded queries are on disk. */
        readonly ExportTraceServiceResponse: {
            /** @description Only if records were rejected. Sending them again would not help. */
            readonly partialSuccess?: {
                /** @description The number of spans that are queries but were not recorded. */
                readonly rejectedSpans: string;
                /** @description The problems of the first few of them. */
                readonly errorMessage: string;
            };
        };
        /** @description All recorded queries are on disk. */
        readonly ExportLogsServiceResponse: {
            /** @description Only if records were rejected. Sending them again would not help. */
            readonly partialSuccess?: {
                /** @description The number of log records that are queries but were not recorded. */
                readonly rejectedLogRecords: string;
                /** @description The problems of the first few of them. */
                readonly errorMessage: string;
            };
        };
        /** @description The metrics were received and dropped. */
        readonly ExportMetricsServiceResponse: Record<string, never>;
        /** @description A leaked API key. */
        readonly LeakedKey: {
            /** @description The whole key. */
            readonly key: string;
        };
        readonly Status: {
            readonly status: string;
            /** @description One message for each problem. */
            readonly details?: readonly {
                readonly message: string;
            }[];
        };
    };
    responses: never;
    parameters: never;
    requestBodies: never;
    headers: never;
    pathItems: never;
}
export type $defs = Record<string, never>;
export interface operations {
    readonly getCallerStats: {
        readonly parameters: {
            readonly query?: {
                /** @description Start of the range, inclusive: a date (the start of that day) or an ISO 8601 date-time, in `timeZone` unless it has an offset. Default: no start. */
                readonly dateFrom?: string;
                /** @description End of the range, exclusive, in the same formats. Default: no end. Encode the `+` of an offset as `%2B`. */
                readonly dateTo?: string;
                /** @description Instead of `dateFrom` and `dateTo`: a range of whole days in `timeZone`. `last-7-days` and the like end with yesterday, `last-month` and the like are the last complete ones, `this-month` and the like end with today, and so do `7-days-to-date` and the like. `12-months-to-date` is the running month and the eleven before. */
                readonly period?: "today" | "yesterday" | "last-7-days" | "last-30-days" | "last-90-days" | "7-days-to-date" | "30-days-to-date" | "90-days-to-date" | "this-week" | "last-week" | "this-month" | "last-month" | "this-quarter" | "last-quarter" | "this-year" | "last-year" | "last-12-months" | "12-months-to-date" | "all";
                /** @description The time zone of dates, and of date-times without an offset: a name or link of the IANA time zone database, such as `Europe/Berlin` or `Asia/Calcutta`. */
                readonly timeZone?: string;
                /** @description The day on which weeks begin, in periods and series. Default: `monday`. */
                readonly weekStart?: "monday" | "sunday" | "saturday";
                /** @description Adds `previous`, the counts of another range: `previous` is the period before, such as the month before `last-month`, and of bounds the range of the same length before; `previous-year` has the same local dates one year earlier. A range that is not over is compared with the same part of the other one. In a series, each bucket also gets its counterpart. */
                readonly compare?: "previous" | "previous-year";
                /**
                 * @description Counts only the queries of this caller, in the field of its type.
                 * @example slack
                 */
                readonly caller?: string;
            };
            readonly header?: never;
            readonly path: {
                /** @description The project's id. */
                readonly projectId: string;
            };
            readonly cookie?: never;
        };
        readonly requestBody?: never;
        readonly responses: {
            /** @description The counts. */
            readonly 200: {
                headers: {
                    readonly [name: string]: unknown;
                };
                content: {
                    readonly "application/json": components["schemas"]["CallerStats"];
                };
            };
            /** @description An invalid parameter or body; `details` has a message for each problem. */
            readonly 400: {
                headers: {
                    readonly [name: string]: unknown;
                };
                content: {
                    readonly "application/json": components["schemas"]["Error"];
                };
            };
            /** @description The key is missing, malformed, unknown, expired, disabled, revoked, or of the wrong type. This is checked first. */
            readonly 401: {
                headers: {
                    readonly [name: string]: unknown;
                };
                content: {
                    readonly "application/json": components["schemas"]["Error"];
                };
            };
            /** @description The key is valid, but the client's address is not in its allowlist, or it lacks the scope that the method needs. */
            readonly 403: {
                headers: {
                    readonly [name: string]: unknown;
                };
                content: {
                    readonly "application/json": components["schemas"]["Error"];
                };
            };
            /** @description The project does not exist or belongs to another organization. */
            readonly 404: {
                headers: {
                    readonly [name: string]: unknown;
                };
                content: {
                    readonly "application/json": components["schemas"]["Error"];
                };
            };
            /** @description The path does not support this method; `Allow` lists the methods that it supports. */
            readonly 405: {
                headers: {
                    readonly [name: string]: unknown;
                };
                content: {
                    readonly "application/json": components["schemas"]["Error"];
                };
            };
            /** @description Too many requests; `Retry-After` and the `RateLimit` headers say when to retry. */
            readonly 429: {
                headers: {
                    readonly [name: string]: unknown;
                };
                content: {
                    readonly "application/json": components["schemas"]["Error"];
                };
            };
            /** @description The server failed. */
            readonly 500: {
                headers: {
                    readonly [name: string]: unknown;
                };
                content: {
                    readonly "application/json": components["schemas"]["Error"];
                };
            };
            /** @description The server or its store cannot answer now; `Retry-After` says when to retry. */
            readonly 503: {
                headers: {
                    readonly [name: string]: unknown;
                };
                content: {
                    readonly "application/json": components["schemas"]["Error"];
                };
            };
        };
    };
    readonly getCallerStatsSeries: {
        readonly parameters: {
            readonly query?: {
                /** @description Start of the range, inclusive: a date (the start of that day) or an ISO 8601 date-time, in `timeZone` unless it has an offset. Default: no start. */
                readonly dateFrom?: string;
                /** @description End of the range, exclusive, in the same formats. Default: no end. Encode the `+` of an offset as `%2B`. */
                readonly dateTo?: string;
                /** @description Instead of `dateFrom` and `dateTo`: a range of whole days in `timeZone`. `last-7-days` and the like end with yesterday, `last-month` and the like are the last complete ones, `this-month` and the like end with today, and so do `7-days-to-date` and the like. `12-months-to-date` is the running month and the eleven before. */
                readonly period?: "today" | "yesterday" | "last-7-days" | "last-30-days" | "last-90-days" | "7-days-to-date" | "30-days-to-date" | "90-days-to-date" | "this-week" | "last-week" | "this-month" | "last-month" | "this-quarter" | "last-quarter" | "this-year" | "last-year" | "last-12-months" | "12-months-to-date" | "all";
                /** @description The time zone of dates, and of date-times without an offset: a name or link of the IANA time zone database, such as `Europe/Berlin` or `Asia/Calcutta`. */
                readonly timeZone?: string;
                /** @description The day on which weeks begin, in periods and series. Default: `monday`. */
                readonly weekStart?: "monday" | "sunday" | "saturday";
                /** @description Adds `previous`, the counts of another range: `previous` is the period before, such as the month before `last-month`, and of bounds the range of the same length before; `previous-year` has the same local dates one year earlier. A range that is not over is compared with the same part of the other one. In a series, each bucket also gets its counterpart. */
                readonly compare?: "previous" | "previous-year";
                /**
                 * @description Counts only the queries of this caller, in the field of its type.
                 * @example slack
                 */
                readonly caller?: string;
                /** @description The length of the buckets. */
                readonly interval?: "hour" | "day" | "week" | "month" | "quarter" | "year";
                /** @description Adds a series for each of the 20 busiest callers, and one for the rest. At most 1000 buckets. */
                readonly by?: "caller";
            };
            readonly header?: never;
            readonly path: {
                /** @description The project's id. */
                readonly projectId: string;
            };
            readonly cookie?: never;
        };
        readonly requestBody?: never;
        readonly responses: {
            /** @description The buckets. */
            readonly 200: {
                headers: {
                    readonly [name: string]: unknown;
                };
                content: {
                    readonly "application/json": components["schemas"]["CallerStatsSeries"];
                    readonly "text/csv": string;
                };
            };
            /** @description An invalid parameter or body; `details` has a message for each problem. */
            readonly 400: {
                headers: {
                    readonly [name: string]: unknown;
                };
                content: {
                    readonly "application/json": components["schemas"]["Error"];
                };
            };
            /** @description The key is missing, malformed, unknown, expired, disabled, revoked, or of the wrong type. This is checked first. */
            readonly 401: {
                headers: {
                    readonly [name: string]: unknown;
                };
                content: {
                    readonly "application/json": components["schemas"]["Error"];
                };
            };
            /** @description The key is valid, but the client's address is not in its allowlist, or it lacks the scope that the method needs. */
            readonly 403: {
                headers: {
                    readonly [name: string]: unknown;
                };
                content: {
                    readonly "application/json": components["schemas"]["Error"];
                };
            };
            /** @description The project does not exist or belongs to another organization. */
            readonly 404: {
                headers: {
                    readonly [name: string]: unknown;
                };
                content: {
                    readonly "application/json": components["schemas"]["Error"];
                };
            };
            /** @description The path does not support this method; `Allow` lists the methods that it supports. */
            readonly 405: {
                headers: {
                    readonly [name: string]: unknown;
                };
                content: {
                    readonly "application/json": components["schemas"]["Error"];
                };
            };
            /** @description Too many requests; `Retry-After` and the `RateLimit` headers say when to retry. */
            readonly 429: {
                headers: {
                    readonly [name: string]: unknown;
                };
                content: {
                    readonly "application/json": components["schemas"]["Error"];
                };
            };
            /** @description The server failed. */
            readonly 500: {
                headers: {
                    readonly [name: string]: unknown;
                };
                content: {
                    readonly "application/json": components["schemas"]["Error"];
                };
            };
            /** @description The server or its store cannot answer now; `Retry-After` says when to retry. */
            readonly 503: {
                headers: {
                    readonly [name: string]: unknown;
                };
                content: {
                    readonly "application/json": components["schemas"]["Error"];
                };
            };
        };
    };
    readonly getCallers: {
        readonly parameters: {
            readonly query?: {
                /** @description Start of the range, inclusive: a date (the start of that day) or an ISO 8601 date-time, in `timeZone` unless it has an offset. Default: no start. */
                readonly dateFrom?: string;
                /** @description End of the range, exclusive, in the same formats. Default: no end. Encode the `+` of an offset as `%2B`. */
                readonly dateTo?: string;
                /** @description Instead of `dateFrom` and `dateTo`: a range of whole days in `timeZone`. `last-7-days` and the like end with yesterday, `last-month` and the like are the last complete ones, `this-month` and the like end with today, and so do `7-days-to-date` and the like. `12-months-to-date` is the running month and the eleven before. */
                readonly period?: "today" | "yesterday" | "last-7-days" | "last-30-days" | "last-90-days" | "7-days-to-date" | "30-days-to-date" | "90-days-to-date" | "this-week" | "last-week" | "this-month" | "last-month" | "this-quarter" | "last-quarter" | "this-year" | "last-year" | "last-12-months" | "12-months-to-date" | "all";
                /** @description The time zone of dates, and of date-times without an offset: a name or link of the IANA time zone database, such as `Europe/Berlin` or `Asia/Calcutta`. */
                readonly timeZone?: string;
                /** @description The day on which weeks begin, in periods and series. Default: `monday`. */
                readonly weekStart?: "monday" | "sunday" | "saturday";
                /** @description Adds `previous`, the counts of another range: `previous` is the period before, such as the month before `last-month`, and of bounds the range of the same length before; `previous-year` has the same local dates one year earlier. A range that is not over is compared with the same part of the other one. In a series, each bucket also gets its counterpart. */
                readonly compare?: "previous" | "previous-year";
            };
            readonly header?: never;
            readonly path: {
                /** @description The project's id. */
                readonly projectId: string;
            };
            readonly cookie?: never;
        };
        readonly requestBody?: never;
        readonly responses: {
            /** @description The callers. */
            readonly 200: {
                headers: {
                    readonly [name: string]: unknown;
                };
                content: {
                    readonly "application/json": components["schemas"]["Callers"];
                    readonly "text/csv": string;
                };
            };
            /** @description An invalid parameter or body; `details` has a message for each problem. */
            readonly 400: {
                headers: {
                    readonly [name: string]: unknown;
                };
                content: {
                    readonly "application/json": components["schemas"]["Error"];
                };
            };
            /** @description The key is missing, malformed, unknown, expired, disabled, revoked, or of the wrong type. This is checked first. */
            readonly 401: {
                headers: {
                    readonly [name: string]: unknown;
                };
                content: {
                    readonly "application/json": components["schemas"]["Error"];
                };
            };
            /** @description The key is valid, but the client's address is not in its allowlist, or it lacks the scope that the method needs. */
            readonly 403: {
                headers: {
                    readonly [name: string]: unknown;
                };
                content: {
                    readonly "application/json": components["schemas"]["Error"];
                };
            };
            /** @description The project does not exist or belongs to another organization. */
            readonly 404: {
                headers: {
                    readonly [name: string]: unknown;
                };
                content: {
                    readonly "application/json": components["schemas"]["Error"];
                };
            };
            /** @description The path does not support this method; `Allow` lists the methods that it supports. */
            readonly 405: {
                headers: {
                    readonly [name: string]: unknown;
                };
                content: {
                    readonly "application/json": components["schemas"]["Error"];
                };
            };
            /** @description Too many requests; `Retry-After` and the `RateLimit` headers say when to retry. */
            readonly 429: {
                headers: {
                    readonly [name: string]: unknown;
                };
                content: {
                    readonly "application/json": components["schemas"]["Error"];
                };
            };
            /** @description The server failed. */
            readonly 500: {
                headers: {
                    readonly [name: string]: unknown;
                };
                content: {
                    readonly "application/json": components["schemas"]["Error"];
                };
            };
            /** @description The server or its store cannot answer now; `Retry-After` says when to retry. */
            readonly 503: {
                headers: {
                    readonly [name: string]: unknown;
                };
                content: {
                    readonly "application/json": components["schemas"]["Error"];
                };
            };
        };
    };
}
