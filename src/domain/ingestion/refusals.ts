/** Why requests and records are refused or doubtful, and what their sender does about it. */

interface Explanation {
  /** Continues "Refused because". */
  readonly because: string;
  readonly remedy: string;
}

/** In the order of the checks. */
export const REFUSALS = {
  'key-unknown': {
    because: 'there was no key, or one that this server does not know',
    remedy:
      'Send "Authorization: Bearer KEY" with a recording key of this project. Anybody who knows the id of the project can cause this.',
  },
  'key-type': {
    because: 'a key of this type may not record',
    remedy: 'Create a recording key for this sender.',
  },
  'key-expired': {
    because: 'its key has expired',
    remedy: 'Create a recording key, which has no expiry unless you want one, and give it to this sender.',
  },
  'key-revoked': {
    because: 'its key was revoked',
    remedy: 'Give this sender another recording key, or stop it.',
  },
  'key-disabled': {
    because: 'its key is disabled',
    remedy: 'Enable the key on the page API keys, or stop this sender.',
  },
  'key-address': {
    because: 'its address is not among those from which the key may be used',
    remedy:
      'Create a key whose allowlist has the address. Behind a proxy, start the server with --trust-proxy.',
  },
  'key-scope': {
    because: 'its admin key has no scope write',
    remedy: 'Create a recording key for this sender.',
  },
  'other-project': {
    because: 'its key does not belong to the project that the request names',
    remedy: 'Correct the id of the project in the settings of this sender, or give it a key of that project.',
  },
  'rate-limit': {
    because: 'the organization sent more requests a minute than --requests-per-minute allows',
    remedy: 'Send larger batches, or raise the setting.',
  },
  overload: {
    because: 'the server or its database could not take more',
    remedy:
      'Clients that repeat lose nothing, but OpenTelemetry exporters give up within a minute. See "Overload" in the documentation.',
  },
  'too-large': {
    because: 'the body was too large',
    remedy:
      'Send smaller batches, or raise --body-bytes-max or --batch-queries-max. Leave prompts out of spans.',
  },
  'media-type': {
    because: 'the Content-Type or Content-Encoding is not supported',
    remedy: 'Send the type and the encoding that the error names.',
  },
  'no-body': {
    because: 'the body is not valid JSON, NDJSON or protobuf',
    remedy: 'Compare what this sender sends with the examples in "Record queries".',
  },
  'query-id': {
    because: 'an id is missing or invalid',
    remedy: 'Send an id of 1 to 128 characters with each query: that of the message or turn.',
  },
  'query-caller': {
    because: 'a caller is missing or invalid',
    remedy:
      'Send web, api, or a name in small letters such as slack or sdk-python: a-z, 0-9, ".", "_" and "-".',
  },
  'time-ahead': {
    because: 'a time lies more than a day ahead',
    remedy: 'Set the clock of this sender, or check the unit of its times.',
  },
  'time-past': {
    because: 'a time lies before those that the project keeps or allows',
    remedy: 'Check the clock and the unit of the times. What is really that old: import it as counts.',
  },
  'time-doubtful': {
    because: 'a time before 2000 is likely in another unit, or of a clock that was not set',
    remedy:
      'Check the clock and the unit of the times of this sender, and withdraw what it has recorded. The setting "Earliest time" of the project refuses such times.',
  },
  'no-header': {
    because: 'requests that asked questions arrived without any header, so that their callers are not known',
    remedy:
      'Let the instrumentation of this service record the headers origin, referer and user-agent, or name the caller in code: see "The caller of a question".',
  },
  'many-in-trace': {
    because: 'this service counts several questions in one trace',
    remedy:
      'If they are one question, send caller_stats.id with its id on each of its calls. If they are not, nothing is to be done.',
  },
  'query-time': {
    because: 'a time is not an RFC 3339 date-time',
    remedy: 'Send occurredAt as 2026-01-31T23:59:59Z, or leave it out.',
  },
  'counts-differ': {
    because: 'an imported count differs from the one that is there',
    remedy: 'Compare both; the error names them.',
  },
  invalid: {
    because: 'something else in the request is invalid',
    remedy: 'The answer to the request, in the log of this sender, names each problem.',
  },
  failure: {
    because: 'the server failed',
    remedy: 'The log of the server says why.',
  },
} as const satisfies Readonly<Record<string, Explanation>>;

export type RefusalReason = keyof typeof REFUSALS;

export const REFUSAL_REASONS = Object.keys(REFUSALS) as readonly RefusalReason[];

export function isRefusalReason(text: string): text is RefusalReason {
  return Object.hasOwn(REFUSALS, text);
}

/** Of what counts. */
export const DOUBTS = ['time-doubtful', 'no-header', 'many-in-trace'] as const satisfies RefusalReason[];

function isDoubt(reason: RefusalReason): boolean {
  return DOUBTS.some((doubt) => doubt === reason);
}

/** Whether something with a key of the server was refused. Anybody can cause the other refusals. */
export function refusesKeys(reason: RefusalReason): boolean {
  return !isDoubt(reason) && reason !== 'key-unknown';
}

/** Whether queries are lost, unlike after what clients repeat. */
export function losesQueries(reason: RefusalReason): boolean {
  return refusesKeys(reason) && !['rate-limit', 'overload', 'failure'].includes(reason);
}

/** Why, as a sentence, what to do, and whether queries are lost if nobody does it. */
export function describeRefusal(reason: RefusalReason) {
  const { because, remedy } = REFUSALS[reason];
  const outcome = isDoubt(reason) ? 'Recorded, but doubtful' : 'Refused';
  return { message: `${outcome} because ${because}.`, remedy, isLoss: losesQueries(reason) };
}

/** Beginnings of problems; the first one that fits counts. A test compares them with those that queries have. */
const PROBLEMS: readonly (readonly [beginning: string, reason: RefusalReason])[] = [
  ['id: ', 'query-id'],
  ['has no valid ', 'query-id'],
  ['caller: ', 'query-caller'],
  ['occurredAt: lies more than a day ahead', 'time-ahead'],
  ['occurredAt: lies before ', 'time-past'],
  ['occurredAt: ', 'query-time'],
  ['is not ', 'no-body'],
  ['is an array', 'no-body'],
  ['has a second ', 'no-body'],
  ['is longer than ', 'no-body'],
];

/** The reason for a problem of a query, with or without the index of the query before it. */
export function reasonOfProblem(problem: string): RefusalReason {
  const text = problem.replace(/^\w{1,20}\[\d{1,9}\]: /, '');
  return PROBLEMS.find(([beginning]) => text.startsWith(beginning))?.[1] ?? 'invalid';
}
