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
         * @description Counts the queries that the project's assistant got, by the type of their caller, in each hour, day, week or month of a time zone's own calendar. The buckets tile the range, its first and last one clipped to it, and add up to the caller stats of the same range. A bound left out is that of the first or last bucket with a query. At most 10000 buckets. As CSV for `Accept: text/csv`.
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
         * @description Counts the queries that the project's assistant got, by caller, in the half-open range [dateFrom, dateTo): each caller that sent any, its type, and how many, most first, then by name. They add up to the caller stats of the same range. As CSV for `Accept: text/csv`.
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
            /** @description What was wrong, and what to do. */
            readonly error: string;
            /** @description One message for every violation. */
            readonly details?: readonly {
                readonly message: string;
            }[];
        };
        /** @description How many queries the project's assistant got, by the type of their caller. */
        readonly CallerStats: {
            /** @description Queries from the documentation site. */
            readonly web: number;
            /** @description Queries from direct API calls. */
            readonly api: number;
            /** @description Queries from other sources, such as integrations and SDKs. */
            readonly other: number;
            /** @description The sum of all caller types. */
            readonly total: number;
        };
        /** @description How many queries the project's assistant got over time, by the type of their caller. */
        readonly CallerStatsSeries: {
            /**
             * @description What the buckets are.
             * @enum {unknown}
             */
            readonly interval: "hour" | "day" | "week" | "month";
            /** @description The time zone whose calendar they follow. */
            readonly timeZone: string;
            /** @description In order of time, those without queries included. */
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
            }[];
        };
        /** @description How many queries the project's assistant got from each caller. */
        readonly Callers: {
            /** @description The sum of all callers. */
            readonly total: number;
            /** @description Those that sent any, most first, then by name. */
            readonly callers: readonly {
                /** @description `web`, `api`, or the name of an integration or SDK. */
                readonly caller: string;
                /**
                 * @description What it counts as.
                 * @enum {unknown}
                 */
                readonly type: "web" | "api" | "other";
                /** @description Queries that it sent. */
                readonly count: number;
            }[];
        };
        /** @description One question that somebody asked the assistant. */
        readonly Query: {
            /** @description The sender's own message or turn id, unique within the project, compared byte for byte. UUIDv7 is best. No NUL character. */
            readonly id: string;
            /** @description `web`, `api`, or the name of an integration or SDK, which counts as other. */
            readonly caller: string;
            /** @description RFC 3339, with seconds and offset. Left out, the time of receipt. Digits finer than a millisecond are dropped. At most a day ahead of the server. */
            readonly occurredAt?: string;
        };
        /** @description What became of the queries of a request; the two numbers add up to their number. */
        readonly RecordResult: {
            /** @description Queries that were new, and are now on disk. */
            readonly recorded: number;
            /** @description Queries whose id the project already had, or that came twice in this request. */
            readonly duplicates: number;
        };
        /** @description What is recorded is on disk. */
        readonly ExportTraceServiceResponse: {
            /** @description Only where something was rejected. Sending it again would not help. */
            readonly partialSuccess?: {
                /** @description How many spans are queries, but were not recorded. */
                readonly rejectedSpans: string;
                /** @description What is wrong with the first few of them. */
                readonly errorMessage: string;
            };
        };
        /** @description What is recorded is on disk. */
        readonly ExportLogsServiceResponse: {
            /** @description Only where something was rejected. Sending it again would not help. */
            readonly partialSuccess?: {
                /** @description How many log records are queries, but were not recorded. */
                readonly rejectedLogRecords: string;
                /** @description What is wrong with the first few of them. */
                readonly errorMessage: string;
            };
        };
        /** @description Metrics were received, and dropped. */
        readonly ExportMetricsServiceResponse: Record<string, never>;
        /** @description An API key that was found where it should not be. */
        readonly LeakedKey: {
            /** @description The whole key, as it was found. */
            readonly key: string;
        };
        readonly Status: {
            readonly status: string;
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
                /** @description Start of the range, inclusive: a date (the start of that day in UTC) or an ISO 8601 date-time (UTC unless it has an offset). Left out, the range has no start. */
                readonly dateFrom?: string;
                /** @description End of the range, exclusive, in the same forms. Left out, the range has no end. Send the `+` of an offset as `%2B`. */
                readonly dateTo?: string;
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
            /** @description An invalid parameter or body; `details` has a message for every violation. */
            readonly 400: {
                headers: {
                    readonly [name: string]: unknown;
                };
                content: {
                    readonly "application/json": components["schemas"]["Error"];
                };
            };
            /** @description No key, or one that is malformed, unknown, expired, disabled, revoked, or of the wrong type. Checked before anything else. */
            readonly 401: {
                headers: {
                    readonly [name: string]: unknown;
                };
                content: {
                    readonly "application/json": components["schemas"]["Error"];
                };
            };
            /** @description A valid key, but from an address outside its allowlist, or without the scope that the method needs. */
            readonly 403: {
                headers: {
                    readonly [name: string]: unknown;
                };
                content: {
                    readonly "application/json": components["schemas"]["Error"];
                };
            };
            /** @description There is no such project, or it is another organization’s. */
            readonly 404: {
                headers: {
                    readonly [name: string]: unknown;
                };
                content: {
                    readonly "application/json": components["schemas"]["Error"];
                };
            };
            /** @description The path does not take this method; `Allow` has those that it takes. */
            readonly 405: {
                headers: {
                    readonly [name: string]: unknown;
                };
                content: {
                    readonly "application/json": components["schemas"]["Error"];
                };
            };
            /** @description Too many requests; `Retry-After` and the `RateLimit` headers say when to come back. */
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
            /** @description The server or its store cannot answer now; `Retry-After` says when to come back. */
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
                /** @description Start of the range, inclusive: a date (the start of that day in UTC) or an ISO 8601 date-time (UTC unless it has an offset). Left out, the range has no start. */
                readonly dateFrom?: string;
                /** @description End of the range, exclusive, in the same forms. Left out, the range has no end. Send the `+` of an offset as `%2B`. */
                readonly dateTo?: string;
                /** @description What the buckets are. Weeks begin on Monday (ISO 8601). */
                readonly interval?: "hour" | "day" | "week" | "month";
                /** @description A name of the IANA time zone database, links included: `Europe/Berlin`, `Asia/Calcutta`. */
                readonly timeZone?: string;
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
            /** @description An invalid parameter or body; `details` has a message for every violation. */
            readonly 400: {
                headers: {
                    readonly [name: string]: unknown;
                };
                content: {
                    readonly "application/json": components["schemas"]["Error"];
                };
            };
            /** @description No key, or one that is malformed, unknown, expired, disabled, revoked, or of the wrong type. Checked before anything else. */
            readonly 401: {
                headers: {
                    readonly [name: string]: unknown;
                };
                content: {
                    readonly "application/json": components["schemas"]["Error"];
                };
            };
            /** @description A valid key, but from an address outside its allowlist, or without the scope that the method needs. */
            readonly 403: {
                headers: {
                    readonly [name: string]: unknown;
                };
                content: {
                    readonly "application/json": components["schemas"]["Error"];
                };
            };
            /** @description There is no such project, or it is another organization’s. */
            readonly 404: {
                headers: {
                    readonly [name: string]: unknown;
                };
                content: {
                    readonly "application/json": components["schemas"]["Error"];
                };
            };
            /** @description The path does not take this method; `Allow` has those that it takes. */
            readonly 405: {
                headers: {
                    readonly [name: string]: unknown;
                };
                content: {
                    readonly "application/json": components["schemas"]["Error"];
                };
            };
            /** @description Too many requests; `Retry-After` and the `RateLimit` headers say when to come back. */
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
            /** @description The server or its store cannot answer now; `Retry-After` says when to come back. */
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
                /** @description Start of the range, inclusive: a date (the start of that day in UTC) or an ISO 8601 date-time (UTC unless it has an offset). Left out, the range has no start. */
                readonly dateFrom?: string;
                /** @description End of the range, exclusive, in the same forms. Left out, the range has no end. Send the `+` of an offset as `%2B`. */
                readonly dateTo?: string;
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
            /** @description An invalid parameter or body; `details` has a message for every violation. */
            readonly 400: {
                headers: {
                    readonly [name: string]: unknown;
                };
                content: {
                    readonly "application/json": components["schemas"]["Error"];
                };
            };
            /** @description No key, or one that is malformed, unknown, expired, disabled, revoked, or of the wrong type. Checked before anything else. */
            readonly 401: {
                headers: {
                    readonly [name: string]: unknown;
                };
                content: {
                    readonly "application/json": components["schemas"]["Error"];
                };
            };
            /** @description A valid key, but from an address outside its allowlist, or without the scope that the method needs. */
            readonly 403: {
                headers: {
                    readonly [name: string]: unknown;
                };
                content: {
                    readonly "application/json": components["schemas"]["Error"];
                };
            };
            /** @description There is no such project, or it is another organization’s. */
            readonly 404: {
                headers: {
                    readonly [name: string]: unknown;
                };
                content: {
                    readonly "application/json": components["schemas"]["Error"];
                };
            };
            /** @description The path does not take this method; `Allow` has those that it takes. */
            readonly 405: {
                headers: {
                    readonly [name: string]: unknown;
                };
                content: {
                    readonly "application/json": components["schemas"]["Error"];
                };
            };
            /** @description Too many requests; `Retry-After` and the `RateLimit` headers say when to come back. */
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
            /** @description The server or its store cannot answer now; `Retry-After` says when to come back. */
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
