/**
 * The operations that spans and log records name, such as `gen_ai.operation.name=chat`: of a record that matches no rule they
 * tell which rule it would match. Only these attributes are read, because they never contain a prompt or an answer.
 *
 * Of a request to a server, the operation also says whether it asked, as in `http.route=/ask` with `asks` or `OPTIONS` after a
 * tab. So a rule can be tried on what arrived before it is proposed.
 */
import { operationCharactersMax } from '../limits.js';
import { outcomeOf, pathOf, type ReadRecord, RuleMatcher, routeOf } from '../queries/rule-matcher.js';
import {
  type Condition,
  formatQueryRules,
  HTTP_METHODS,
  KNOWN_RULES,
  matchesRules,
  PATH,
  type QueryRule,
  ROUTE,
  ROUTES,
  SPAN_NAME,
} from '../queries/telemetry-rules.js';
import { isAskingEvent, isAskingRoute } from './asking-names.js';
import { ASKS, type SourceTotals, UNSURE } from './source-counts.js';

const MCP_METHOD = 'mcp.method.name';
const [METHOD = ''] = HTTP_METHODS;

/** Rules of routes accept these, too, which rather change something than ask. */
const CHANGING_METHODS: readonly string[] = ['PUT', 'PATCH'];

export const OPERATION_ATTRIBUTES: readonly string[] = [
  ...new Set([
    ...KNOWN_RULES.filter(({ attribute, values }) => values.length > 0 && attribute !== SPAN_NAME).map(
      ({ attribute }) => attribute,
    ),
    'traceloop.span.kind',
    'operation.name',
    'next.span_type',
    'event.name',
    MCP_METHOD,
  ]),
];

/**
 * What may be proposed, besides routes: the known rules that a project leaves out, and these. All other names may mark anything: steps,
 * tools, indexing, embeddings.
 */
const PROPOSABLE: readonly QueryRule[] = [
  ...KNOWN_RULES,
  { attribute: 'traceloop.span.kind', values: ['agent'] },
  { attribute: MCP_METHOD, values: ['tools/call'] },
];

/** A path without parts that look like ids, so that a service has few. */
const FIXED_PATH = /^(\/[a-z][a-z._-]{0,30}|\/v\d){1,6}$/i;

/** The operations that a record names, as `attribute=value`. Those that are too long to be the name of one are left out. */
export function readOperations(record: ReadRecord): string[] {
  const request = readRequest(record);
  const named = OPERATION_ATTRIBUTES.flatMap((attribute) => {
    const value = record.attributes.get(attribute) ?? '';
    // The client of an MCP server may be an assistant that counts.
    if (attribute === MCP_METHOD && !record.isEntry) return [];
    return isName(value) ? [`${attribute}=${value}`] : [];
  });
  return request === undefined ? named : [...named, request];
}

function readMethod({ attributes }: ReadRecord): string | undefined {
  return HTTP_METHODS.map((name) => attributes.get(name)).find((value) => value !== undefined);
}

function isName(value: string): boolean {
  return value !== '' && value.length <= operationCharactersMax && !/[\p{Cc}\p{Cs}]/u.test(value);
}

/**
 * The operation of a request that a server answered, or may have. It is `unsure` of what a rule accepts and is not the span of a
 * server, or has no method: one request can leave none of those, or several.
 */
function readRequest(record: ReadRecord): string | undefined {
  const route = routeOf(record) ?? '';
  const path = pathOf(record) ?? '';
  const isRequest = record.isEntry || record.isLog || (route !== '' && record.parentSpanId === '');
  const [attribute, value] = route === '' ? [PATH, FIXED_PATH.test(path) ? path : ''] : [ROUTE, route];
  if (!isRequest || !isName(value)) return undefined;
  const accepted = outcomeOf(record, value);
  const method = readMethod(record);
  const isSure = method !== undefined && (record.isEntry || record.isLog);
  const asking = isSure ? (CHANGING_METHODS.find((one) => one === method) ?? ASKS) : UNSURE;
  const outcome = accepted === 'asks' ? asking.trim() : accepted;
  return /^\w{1,20}$/.test(outcome) ? `${attribute}=${value}\t${outcome}` : undefined;
}

export interface Operation {
  readonly attribute: string;
  readonly value: string;
  /** Of a request. */
  readonly outcome: string | undefined;
}

export function splitOperation(operation: string): Operation {
  const at = operation.indexOf('=');
  const [value = '', outcome] = operation.slice(at + 1).split('\t');
  return { attribute: operation.slice(0, at), value, outcome };
}

/** The names of the routes of which something arrived that a rule would accept and may not be a request. */
export function unsureRoutes(sources: readonly Pick<SourceTotals, 'operations'>[]): ReadonlySet<string> {
  const all = sources.flatMap(({ operations }) => [...operations.keys()]);
  return new Set(all.filter((one) => one.endsWith(UNSURE)).map(nameOfOperation));
}

/** The attribute and its value. */
export function nameOfOperation(operation: string): string {
  return operation.split('\t')[0] ?? '';
}

export interface UnmatchedValue {
  readonly attribute: string;
  readonly value: string;
  readonly count: number;
  /** The setting `--otlp-query` that also accepts these; null if none is needed or possible. */
  readonly otlpQuery: string | null;
  /** What that setting would have counted of what was seen; null without one. */
  readonly effect: string | null;
}

/**
 * What the records of a source say they are that match no rule, with the rules that would accept them: first those of routes, all at
 * once. None if queries of the project count already, of this source or another: they may be the same ones. None of a route of which
 * any source sent something `unsure`.
 */
export function listUnmatched(
  { counts, operations }: Pick<SourceTotals, 'counts' | 'operations'>,
  rules: readonly QueryRule[],
  { isCounting, unsure }: { readonly isCounting: boolean; readonly unsure: ReadonlySet<string> },
): UnmatchedValue[] {
  const values = sumValues(operations);
  const isSilent = !isCounting && counts.unmatched === counts.arrived;
  // Requests replace the known rules: titles and retries of the same questions match those.
  const hasKnown = rules.length === KNOWN_RULES.length && KNOWN_RULES.every((one) => rules.includes(one));
  const routes = isSilent
    ? findAskingRoutes(values, rules).filter((one) => !unsure.has(`${one.attribute}=${one.value}`))
    : [];
  const routeRule =
    routes.length === 0 ? null : formatQueryRules([...(hasKnown ? [] : rules), ...groupRoutes(routes)]);
  const effect = describeRequests(routes);
  const proposals = values.map((one) => {
    const { attribute, value, count } = one;
    const own = { attribute, value, count };
    if (routes.includes(one)) return { ...own, otlpQuery: routeRule, effect };
    const otlpQuery = isSilent && one.outcomes.size === 0 ? suggestRules(one, rules) : null;
    const accepted = `would have accepted ${count} of the last ${counts.unmatched} records; those of one trace are one question`;
    return { ...own, otlpQuery, effect: otlpQuery === null ? null : accepted };
  });
  const order = ({ attribute, otlpQuery }: UnmatchedValue) =>
    otlpQuery === null ? 2 : ROUTES.includes(attribute) ? 0 : 1;
  return proposals.toSorted((one, other) => order(one) - order(other));
}

interface SeenValue extends Condition {
  readonly value: string;
  count: number;
  /** How many requests had which outcome; empty of anything else. */
  readonly outcomes: Map<string, number>;
}

function sumValues(operations: ReadonlyMap<string, number>): SeenValue[] {
  const seen = new Map<string, SeenValue>();
  for (const [operation, count] of operations) {
    const { attribute, value, outcome } = splitOperation(operation);
    const name = nameOfOperation(operation);
    const one = seen.get(name) ?? { attribute, value, values: [value], count: 0, outcomes: new Map() };
    one.count += count;
    if (outcome !== undefined) one.outcomes.set(outcome, (one.outcomes.get(outcome) ?? 0) + count);
    seen.set(name, one);
  }
  return [...seen.values()];
}

/** The routes of questions, to which requests asked something. */
function findAskingRoutes(values: readonly SeenValue[], rules: readonly QueryRule[]): SeenValue[] {
  const matcher = new RuleMatcher(rules);
  return values.filter((one) => {
    const { attribute, value, outcomes } = one;
    const isAsking = ROUTES.includes(attribute) && (outcomes.get(ASKS.slice(1)) ?? 0) > 0;
    return isAsking && isAskingRoute(value) && isTakenWhole(one) && !matcher.accepts(requestOf(one));
  });
}

/** Whether the text of a rule, once it is read, names this value and nothing else. */
function isTakenWhole({ value }: Pick<Condition & Operation, 'value'>): boolean {
  return !/[,;]|&\s*\S+\.\S+=/.test(value) && value.trim() === value;
}

function requestOf({ attribute, value }: Pick<Operation, 'attribute' | 'value'>): ReadRecord {
  const none = { parentSpanId: '', name: '', isLog: false };
  return { ...none, isEntry: true, attributes: new Map([[attribute, value]]), resource: new Map() };
}

function groupRoutes(routes: readonly SeenValue[]): QueryRule[] {
  const groups = ROUTES.flatMap((attribute) =>
    [false, true].map((changes) => ({
      ...{ attribute, ...(changes && { and: [{ attribute: METHOD, values: ['POST'] }] }) },
      values: routes
        .filter((one) => one.attribute === attribute && isAlsoChanging(one) === changes)
        .map(({ value }) => value),
    })),
  );
  return groups.filter(({ values }) => values.length > 0);
}

/** Whether requests of the route change something, such as the name of a chat. */
function isAlsoChanging({ outcomes }: SeenValue): boolean {
  return CHANGING_METHODS.some((method) => outcomes.has(method));
}

/** As `would have counted 2 of the last 40 requests; 38 were OPTIONS`. */
function describeRequests(routes: readonly SeenValue[]): string {
  const outcomes = new Map<string, number>();
  for (const route of routes)
    for (const [outcome, count] of route.outcomes)
      outcomes.set(outcome, (outcomes.get(outcome) ?? 0) + count);
  const all = [...outcomes.values()].reduce((sum, count) => sum + count, 0);
  const texts = [...outcomes]
    .filter(([outcome]) => outcome !== ASKS.slice(1))
    .sort(([a, ofA], [b, ofB]) => ofB - ofA || (a < b ? -1 : 1))
    .map(
      ([outcome, count]) => `${count} ${count === 1 ? 'was' : 'were'} ${OUTCOME_TEXTS[outcome] ?? outcome}`,
    );
  const others = texts.length === 0 ? '' : `; ${texts.join(', ')}`;
  const requests =
    all === 1 ? 'the only request' : `${outcomes.get(ASKS.slice(1)) ?? 0} of the last ${all} requests`;
  return `would have counted ${requests}${others}`;
}

const OUTCOME_TEXTS: Readonly<Record<string, string>> = {
  refused: 'refused',
  moved: 'sent on to another address',
  mcp: 'no calls of MCP tools',
  part: 'handlers of others',
};

/**
 * The setting `--otlp-query` that also accepts records with this operation; null if it is accepted already, if it may be no
 * question, or if a rule cannot name it.
 */
export function suggestRules(
  operation: Pick<Operation, 'attribute' | 'value'>,
  rules: readonly QueryRule[],
): string | null {
  const { attribute, value } = operation;
  const attributes = new Map([[attribute, value]]);
  const isProposable =
    matchesRules(attributes, PROPOSABLE) || (attribute === 'event.name' && isAskingEvent(value));
  if (!isProposable || !isTakenWhole(operation) || new RuleMatcher(rules).accepts(requestOf(operation)))
    return null;
  return formatQueryRules([...rules, { attribute, values: [value] }]);
}
