/**
 * The spans of one trace, and what the path from each span of a query to the first one of the trace says.
 *
 * Spans arrive in any order, so a path becomes known piece by piece. A new span can change only the paths of the spans below
 * it: these are forgotten, and each is walked again once, however many spans of a request changed it.
 */
import { answersMax } from '../limits.js';
import { type QueryKeys, responseNames } from './query-identity.js';

export interface IndexedSpan {
  /** Empty for the first span of a trace. */
  readonly parentSpanId: string;
  /** Whether a server, or a consumer of messages, began its work with this span. */
  readonly isEntry: boolean;
  /** Whether neither it nor any span below it belongs to a query. */
  readonly isIgnored: boolean;
  readonly service: string;
  /** The id that the application gave the query; undefined if none. So is `caller`. */
  readonly explicitId: string | undefined;
  readonly caller: string | undefined;
  /** The time of the query in milliseconds, if the span is one of a query. */
  readonly askedAt: number | undefined;
  /** The id of a model's answer. */
  readonly responseId: string | undefined;
}

/** A query that has not been recorded by these keys yet. Its spans with the same strongest key and caller are together. */
export interface IndexedQuery {
  readonly keys: QueryKeys;
  readonly caller: string | undefined;
  /** The earliest time. */
  readonly askedAt: number;
  /** To be called when it is recorded. */
  readonly noteRecorded: () => void;
}

/** The server spans of sub-agents that a path keeps, the innermost ones: more than there are between agents that call agents. */
const innerSpansMax = 16;

/** Upper bounds of the memory of a trace, and of each span without the text that it brings. */
const traceBytes = 1_000;
export const spanBytes = 1_000;

/** What a span and those above it say, as far as they are known. The nearest id and caller apply. */
interface Path {
  readonly isIgnored: boolean;
  readonly explicitId: string | undefined;
  readonly caller: string | undefined;
  /** The nearest server span. */
  readonly entrySpanId: string | undefined;
  /** The outermost span of a query, at whose server the query begins. Server spans below it belong to sub-agents. */
  readonly outermost: { readonly service: string; readonly entrySpanId: string | undefined } | undefined;
  readonly innerSpanIds: readonly string[];
}

const nothingKnown: Path = {
  isIgnored: false,
  explicitId: undefined,
  caller: undefined,
  entrySpanId: undefined,
  outermost: undefined,
  innerSpanIds: [],
};

/** A span, or the place of one that has not arrived or was forgotten, but is the parent of others. */
class Place {
  readonly spanId: string;
  span: IndexedSpan | undefined;
  parent: Place | undefined;
  /** Undefined if it has to be walked again. Then so have all those below. */
  path: Path | undefined;
  /** What was known when the span was recorded as one of a query. */
  recorded: Path | undefined;
  firstChild: Place | undefined;
  /** The siblings of this one. */
  #previous: Place | undefined;
  next: Place | undefined;

  constructor(spanId: string) {
    this.spanId = spanId;
  }

  putBelow(parent: Place): void {
    this.parent = parent;
    this.next = parent.firstChild;
    if (this.next !== undefined) this.next.#previous = this;
    parent.firstChild = this;
  }

  leaveParent(): void {
    if (this.parent?.firstChild === this) this.parent.firstChild = this.next;
    if (this.#previous !== undefined) this.#previous.next = this.next;
    if (this.next !== undefined) this.next.#previous = this.#previous;
    this.parent = this.#previous = this.next = undefined;
  }
}

export class Trace {
  readonly #traceId: string;
  /** In the order of arrival. */
  readonly #places = new Map<string, Place>();
  /** Parents that are not among them. */
  readonly #missing = new Map<string, Place>();
  /** The spans of queries whose paths may say more than when they were recorded. */
  readonly #unrecorded = new Set<Place>();
  #bytes = traceBytes;
  #steps = 0;

  constructor(traceId: string) {
    this.#traceId = traceId;
  }

  /** The number of spans. */
  get size(): number {
    return this.#places.size;
  }

  /** An upper bound of the memory that it takes. */
  get bytes(): number {
    return this.#bytes;
  }

  /** How many spans were walked so far. */
  get steps(): number {
    return this.#steps;
  }

  add(spanId: string, added: IndexedSpan): void {
    const place = this.#places.get(spanId) ?? this.#missing.get(spanId) ?? new Place(spanId);
    const before = place.span;
    const span = before === undefined ? added : merge(before, added);
    place.span = span;
    this.#bytes += bytesOf(span) - (before === undefined ? 0 : bytesOf(before));
    if (before === undefined) {
      this.#missing.delete(spanId);
      this.#places.set(spanId, place);
    }
    if (place.parent === undefined && span.parentSpanId !== '') place.putBelow(this.#find(span.parentSpanId));
    if (before === undefined || isDifferent(before, span)) this.#forgetPaths(place);
    // A span that is sent again is recorded again, because only the store knows for certain what it has.
    place.recorded = undefined;
    if (span.askedAt !== undefined) this.#unrecorded.add(place);
  }

  /** Forgets the oldest spans beyond `spansMax`. What was learned from them of the paths below stays. */
  trim(spansMax: number): void {
    for (const [spanId, place] of this.#places) {
      if (this.#places.size <= spansMax) return;
      const { parent, span } = place;
      this.#places.delete(spanId);
      this.#unrecorded.delete(place);
      place.leaveParent();
      const isNeeded = parent === undefined || parent.span !== undefined || parent.firstChild !== undefined;
      if (!isNeeded) this.#missing.delete(parent.spanId);
      place.span = place.path = place.recorded = undefined;
      if (place.firstChild !== undefined) this.#missing.set(spanId, place);
      if (span !== undefined) this.#bytes -= bytesOf(span);
    }
  }

  /** The queries of which something is known that was not when they were recorded. */
  unrecorded(): IndexedQuery[] {
    const groups = new Map<string, Group>();
    for (const place of this.#unrecorded) {
      const path = this.#walk(place);
      const askedAt = place.span?.askedAt;
      if (
        askedAt === undefined ||
        path.isIgnored ||
        (place.recorded !== undefined && hasSameKeys(place.recorded, path))
      )
        this.#unrecorded.delete(place);
      else addToGroup(groups, path, place, askedAt);
    }
    return Array.from(groups.values(), ({ path, innerSpanIds, responses, askedAt, places }) => ({
      keys: {
        explicitId: path.explicitId,
        entrySpanId: path.outermost?.entrySpanId,
        innerSpanIds: [...innerSpanIds],
        responses: [...responses].sort().slice(0, answersMax),
        traceId: this.#traceId,
        service: path.outermost?.service ?? '',
      },
      caller: path.caller,
      askedAt,
      noteRecorded: () => {
        for (const [place, known] of places) this.#noteRecorded(place, known);
      },
    }));
  }

  #noteRecorded(place: Place, known: Path): void {
    place.recorded = known;
    if (place.path === known) this.#unrecorded.delete(place);
  }

  #find(spanId: string): Place {
    const known = this.#places.get(spanId) ?? this.#missing.get(spanId);
    if (known !== undefined) return known;
    const missing = new Place(spanId);
    this.#missing.set(spanId, missing);
    return missing;
  }

  /** Of the place and all below it. Ends at those whose path is not known. */
  #forgetPaths(top: Place): void {
    const places = [top];
    for (let place = places.pop(); place !== undefined; place = places.pop()) {
      this.#steps++;
      place.path = undefined;
      if (place.span?.askedAt !== undefined) this.#unrecorded.add(place);
      for (let child = place.firstChild; child !== undefined; child = child.next)
        if (child.path !== undefined) places.push(child);
    }
  }

  #walk(from: Place): Path {
    const unknown: Place[] = [];
    const met = new Set<Place>();
    let above: Place | undefined = from;
    while (above?.span !== undefined && above.path === undefined && !met.has(above)) {
      unknown.push(above);
      met.add(above);
      above = above.parent;
    }
    if (above !== undefined && met.has(above)) putFirstLast(unknown, unknown.indexOf(above));
    let path: Path = above?.path ?? nothingKnown;
    for (const place of unknown.toReversed()) {
      this.#steps++;
      path = extend(place, place.parent?.path ?? path);
      place.path = path;
    }
    return path;
  }
}

/**
 * Only made-up spans are below themselves. The places from `at` on are such a circle: it begins at its least id, whichever
 * of its spans arrived last.
 */
function putFirstLast(places: Place[], at: number): void {
  const circle = places.splice(at);
  const ids = circle.map(({ spanId }) => spanId);
  const first = ids.indexOf(ids.toSorted()[0] ?? '');
  places.push(...circle.slice(first + 1), ...circle.slice(0, first + 1));
}

function extend({ span, spanId }: Place, above: Path): Path {
  if (span === undefined) return above;
  const { explicitId = above.explicitId, caller = above.caller, askedAt, service } = span;
  const isIgnored = above.isIgnored || span.isIgnored;
  // The first span of a trace is no key of its own: there is nothing to tell it apart from.
  const isServer = span.isEntry && span.parentSpanId !== '';
  const entrySpanId = isServer ? spanId : above.entrySpanId;
  const begins = above.outermost === undefined && askedAt !== undefined;
  const outermost = begins ? { service, entrySpanId } : above.outermost;
  const isInner = isServer && above.outermost !== undefined;
  const isSame =
    explicitId === above.explicitId &&
    caller === above.caller &&
    !isServer &&
    !begins &&
    isIgnored === above.isIgnored;
  if (isSame) return above;
  const innerSpanIds = isInner ? [...above.innerSpanIds, spanId].slice(-innerSpansMax) : above.innerSpanIds;
  return { isIgnored, explicitId, caller, entrySpanId, outermost, innerSpanIds };
}

/** The spans of one query by the same caller. */
interface Group {
  readonly path: Path;
  readonly places: (readonly [Place, Path])[];
  readonly innerSpanIds: Set<string>;
  readonly responses: Set<string>;
  askedAt: number;
}

function addToGroup(groups: Map<string, Group>, path: Path, place: Place, askedAt: number): void {
  const { explicitId, caller, outermost } = path;
  const name = JSON.stringify([explicitId, caller, outermost?.entrySpanId, outermost?.service]);
  let group = groups.get(name);
  if (group === undefined) {
    group = { path, places: [], innerSpanIds: new Set(), responses: new Set(), askedAt };
    groups.set(name, group);
  }
  group.places.push([place, path]);
  for (const spanId of path.innerSpanIds) group.innerSpanIds.add(spanId);
  const responseId = place.span?.responseId;
  if (responseId !== undefined)
    for (const name of responseNames(responseId, askedAt)) group.responses.add(name);
  group.askedAt = Math.min(group.askedAt, askedAt);
}

function hasSameKeys(one: Path, other: Path): boolean {
  return (
    one === other ||
    (one.explicitId === other.explicitId &&
      one.outermost?.entrySpanId === other.outermost?.entrySpanId &&
      one.innerSpanIds.join() === other.innerSpanIds.join())
  );
}

/** What two records with the same id say together, whichever came first. */
function merge(one: IndexedSpan, other: IndexedSpan): IndexedSpan {
  const times = [one.askedAt, other.askedAt].filter((time) => time !== undefined);
  return {
    parentSpanId: one.parentSpanId || other.parentSpanId,
    isEntry: one.isEntry || other.isEntry,
    isIgnored: one.isIgnored || other.isIgnored,
    service: one.service || other.service,
    explicitId: one.explicitId ?? other.explicitId,
    caller: one.caller ?? other.caller,
    askedAt: times.length === 0 ? undefined : Math.min(...times),
    responseId: one.responseId ?? other.responseId,
  };
}

/** Whether the paths through a span say something else. */
function isDifferent(one: IndexedSpan, other: IndexedSpan): boolean {
  return (
    one.parentSpanId !== other.parentSpanId ||
    one.isEntry !== other.isEntry ||
    one.isIgnored !== other.isIgnored ||
    one.service !== other.service ||
    one.explicitId !== other.explicitId ||
    one.caller !== other.caller ||
    (one.askedAt === undefined) !== (other.askedAt === undefined)
  );
}

function bytesOf({ service, explicitId = '', caller = '', responseId = '' }: IndexedSpan): number {
  return spanBytes + 2 * (service.length + explicitId.length + caller.length + responseId.length);
}
