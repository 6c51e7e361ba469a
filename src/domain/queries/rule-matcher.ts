/** Whether any of the rules of a project accepts a record: prepared, so that an attribute costs the same with any number of them. */
import {
  ASKING_METHODS,
  type Condition,
  conditionsOf,
  HTTP_METHODS,
  HTTP_STATUSES,
  MCP_METHODS,
  namesOf,
  PATH,
  type QueryRule,
  ROUTE,
  ROUTES,
  SPAN_NAME,
  TARGET,
  URI,
} from './telemetry-rules.js';

/** What rules read of a span or log record. */
export interface ReadRecord {
  /** Of a log record, this is empty. */
  readonly parentSpanId: string;
  /** Of a span. */
  readonly name: string;
  readonly isLog: boolean;
  /** Whether it is a span with which a server, or a consumer of messages, began its work. */
  readonly isEntry: boolean;
  readonly attributes: ReadonlyMap<string, string>;
  /** The attributes of the sender. */
  readonly resource: ReadonlyMap<string, string>;
}

/** A rule whose first condition is met. */
interface Prepared {
  readonly rest: readonly Condition[];
  /** The attributes of a request that the rule does not name itself, so that the defaults for routes apply; undefined for other rules. */
  readonly unnamed: readonly (readonly string[])[] | undefined;
}

interface OfAttribute {
  readonly any: Prepared[];
  readonly byValue: Map<string, Prepared[]>;
}

/** A client sends the same request again, elsewhere. */
const RESENT: readonly string[] = ['307', '308'];

const REQUEST_ATTRIBUTES = [HTTP_METHODS, HTTP_STATUSES, MCP_METHODS];

export class RuleMatcher {
  readonly #ofAttribute = new Map<string, OfAttribute>();
  /** The attributes that are read. */
  readonly attributes: ReadonlySet<string>;

  constructor(rules: readonly QueryRule[]) {
    for (const rule of rules) this.#add(rule);
    const named = rules.flatMap(conditionsOf).flatMap(({ attribute }) => namesOf(attribute));
    this.attributes = new Set(named.filter((name) => name !== SPAN_NAME));
  }

  accepts(record: ReadRecord): boolean {
    const { attributes } = record;
    for (const [name, value] of attributes)
      if (!ROUTES.includes(name) && this.#takes(name, value, record)) return true;
    if (record.name !== '' && this.#takes(SPAN_NAME, record.name, record)) return true;
    const route = routeOf(record);
    const path = attributes.get(PATH) ?? (record.isEntry ? pathOf(record) : undefined);
    if (route !== undefined && this.#takes(ROUTE, routeText(route), record)) return true;
    if (path === undefined) return false;
    // A server without routes, or with older names.
    const isRoute = record.isEntry && route === undefined;
    return this.#takes(PATH, path, record) || (isRoute && this.#takes(ROUTE, path, record));
  }

  #add(rule: QueryRule): void {
    const conditions = conditionsOf(rule);
    const first = conditions.find(({ attribute }) => ROUTES.includes(attribute)) ?? rule;
    const isNamed = (names: readonly string[]) =>
      conditions.some(({ attribute }) => names.includes(attribute));
    const isRoute = ROUTES.includes(first.attribute);
    const prepared = {
      rest: conditions.filter((one) => one.attribute !== first.attribute),
      unnamed: isRoute ? REQUEST_ATTRIBUTES.filter((names) => !isNamed(names)) : undefined,
    };
    for (const name of namesOf(first.attribute)) {
      const { any, byValue } = this.#find(name);
      if (first.values.length === 0) any.push(prepared);
      for (const text of first.values) {
        const value = isRoute ? routeText(text) : text;
        byValue.set(value, [...(byValue.get(value) ?? []), prepared]);
      }
    }
  }

  #find(name: string): OfAttribute {
    const known = this.#ofAttribute.get(name) ?? { any: [], byValue: new Map() };
    this.#ofAttribute.set(name, known);
    return known;
  }

  #takes(name: string, value: string, record: ReadRecord): boolean {
    const rules = this.#ofAttribute.get(name);
    if (rules === undefined) return false;
    const accepts = ({ rest, unnamed }: Prepared) =>
      rest.every((condition) => meets(record, condition)) &&
      (unnamed === undefined || isAskingRequest(record, value, unnamed));
    return rules.any.some(accepts) || (rules.byValue.get(value)?.some(accepts) ?? false);
  }
}

/** The route of a request; undefined if its server names none. */
export function routeOf({ attributes, isEntry }: ReadRecord): string | undefined {
  return attributes.get(ROUTE) ?? (isEntry ? attributes.get(URI) : undefined);
}

/** Django and ASP.NET write `ask` for the route `/ask`, and Rails writes `/ask(.:format)`. */
function routeText(route: string): string {
  return `/${route.replace(/^\//, '').replace(/\(\.:format\)$/, '')}`;
}

/** The path of a request, without the query string of the previous name. */
export function pathOf({ attributes }: Pick<ReadRecord, 'attributes'>): string | undefined {
  return attributes.get(PATH) ?? attributes.get(TARGET)?.replace(/\?.*/s, '');
}

function meets(record: ReadRecord, { attribute, values }: Condition): boolean {
  const { attributes, resource } = record;
  const names = namesOf(attribute);
  const read = () => names.map((name) => attributes.get(name) ?? resource.get(name));
  const value =
    attribute === PATH
      ? pathOf(record)
      : attribute === SPAN_NAME
        ? record.name
        : read().find((one) => one !== undefined);
  return value !== undefined && (values.length === 0 || values.includes(value));
}

/** `asks`; or why a rule of its route does not accept a request: its method, `refused`, `moved`, `mcp` or `part`. */
export function outcomeOf(
  record: ReadRecord,
  route: string,
  unnamed: readonly (readonly string[])[] = REQUEST_ATTRIBUTES,
): string {
  const { attributes, isEntry, isLog, parentSpanId } = record;
  const read = (names: readonly string[]) =>
    unnamed.includes(names)
      ? names.map((name) => attributes.get(name)).find((value) => value !== undefined && value !== '')
      : undefined;
  const method = read(HTTP_METHODS);
  // The handlers of a framework have the route of their request, and do not say what becomes of it.
  const hasMethod = HTTP_METHODS.some((name) => attributes.has(name));
  if (!isEntry && !isLog && !hasMethod && parentSpanId !== '') return 'part';
  if (method !== undefined && !ASKING_METHODS.includes(method)) return method;
  const status = read(HTTP_STATUSES) ?? '';
  if (Number(status) >= 400) return 'refused';
  if (RESENT.includes(status)) return 'moved';
  if (!unnamed.includes(MCP_METHODS)) return 'asks';
  // Of the requests to an MCP server, most set up a connection or list tools.
  const called = read(MCP_METHODS) ?? (/\/mcp\/?$/.test(route) ? '' : 'tools/call');
  return called === 'tools/call' ? 'asks' : 'mcp';
}

function isAskingRequest(
  record: ReadRecord,
  route: string,
  unnamed: readonly (readonly string[])[],
): boolean {
  return outcomeOf(record, route, unnamed) === 'asks';
}
