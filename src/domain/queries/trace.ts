/**
 * The spans of one trace, and what the path from each span of a query to the first one of the trace says.
 *
 * Spans arrive in any order, so a path becomes known piece by piece. A new span can change only the paths of the spans below
 * it: these are forgotten, and each is walked again once, however many spans of a request changed it.
 */
import { answersMax, traceSpansMax } from '../limits.js';
import { agentRunName, type QueryKeys, responseNames } from './query-identity.js';

/** A turn of a conversation, a request that asks for work, the first span of a service that an SDK exports, or a step of work that began elsewhere. */
export type EntryKind = 'message' | 'request' | 'root' | 'step';

export interface IndexedSpan {
  /** Empty for the first span of a trace. */
  readonly parentSpanId: string;
  /** Whether a server, or a consumer of messages, began its work with this span. */
  readonly isEntry: boolean;
  readonly entryKind: EntryKind | undefined;
  /** What the steps of one run have in common, instead of the id of a span. */
  readonly run: string | undefined;
  /** The run of agents to which it and the spans below it belong, in several traces. */
  readonly agentRun: string | undefined;
  /** Whether neither it nor any span below it belongs to a query. */
  readonly isIgnored: boolean;
  readonly service: string;
  /** The id that the application gave the query; undefined if none. So is `caller`. */
  readonly explicitId: string | undefined;
  readonly caller: string | undefined;
  /** The caller that what programs send to any server hints at; empty if none. */
  readonly hint: string;
  /** The time of the query in milliseconds, if the span is one of a query. */
  readonly askedAt: number | undefined;
  /** The id of a model's answer. */
  readonly responseId: string | undefined;
  /** When a message arrived over the WebSocket above it, in milliseconds. */
  readonly messageAt?: number | undefined;
}

/** A query that has not been recorded by these keys and its caller yet. Its spans with the same strongest key and caller are together. */
export interface IndexedQuery {
  readonly keys: QueryKeys;
  readonly caller: string | undefined;
  /** Whether the caller is only hinted. */
  readonly isHinted: boolean;
  /** The earliest time. */
  readonly askedAt: number;
  /** To be called when it is recorded. */
  readonly noteRecorded: () => void;
}

/** The entries that a path keeps, half of them the outermost ones: more than there are between agents that call agents. */
const entriesMax = 16;

/** Upper bounds of the memory of a trace, and of each span without the text that it brings. */
const traceBytes = 1_000;
export const spanBytes = 1_000;

/** A message over a WebSocket. What is asked after it, and before the next one, is its query. */
interface Message {
  readonly at: number;
  readonly spanId: string;
}
const messageBytes = 200;

/** A span with which a server, or a consumer, began its work; or a message to it. */
interface Entry {
  /** Of a message, that of its connection. */
  readonly place: Place;
  readonly service: string;
  /** Undefined for the first span of a trace: there is nothing to tell it apart from. */
  readonly key: string | undefined;
  readonly kind: EntryKind | undefined;
}

/** What a span and those above it say, as far as they are known. The nearest id and caller apply. */
interface Path {
  /** Whether it begins with the first span of the trace. */
  readonly isWhole: boolean;
  readonly isIgnored: boolean;
  readonly agentRun: string | undefined;
  readonly explicitId: string | undefined;
  readonly caller: string | undefined;
  /** Of several, the last in the alphabet: whichever is known first. */
  readonly hint: string;
  /** The outermost one first. */
  readonly entries: readonly Entry[];
  /** The nearest span above with messages. */
  readonly connection: Connection | undefined;
  /** Where the query begins that the outermost span of a query belongs to. Entries below it are steps and sub-agents. */
  readonly begin: Begin | undefined;
}

interface Connection {
  readonly place: Place;
  readonly messages: readonly Message[];
  /** How many entries are not below it. */
  readonly depth: number;
}

interface Begin {
  /** Undefined if none is known. */
  readonly entry: Entry | undefined;
  readonly service: string;
  readonly isUnsure: boolean;
}

const nothingKnown: Path = {
  isWhole: false,
  isIgnored: false,
  agentRun: undefined,
  explicitId: undefined,
  caller: undefined,
  hint: '',
  entries: [],
  connection: undefined,
  begin: undefined,
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
  /** Whether it was sent again since: then it is recorded again, because only the store knows for certain what it has. */
  isSentAgain = false;
  /** The path that is counted among those of the spans of queries. */
  counted: Path | undefined;
  firstChild: Place | undefined;
  /** The entry nearest to this span of a query, and how many such spans an entry has. */
  holder: Place | undefined;
  held = 0;
  /** Whether the paths below say that it has any. */
  isHolder = false;
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
  /** By the span of the connection, in the order of time. */
  readonly #messages = new Map<string, Message[]>();
  /** The entries that may have begun, or ceased, to have spans of queries of their own. */
  readonly #changed = new Set<Place>();
  #bytes = traceBytes;
  #steps = 0;
  /** The number of spans of queries. */
  #asked = 0;
  /** How many of them have a complete path to the first span, how many of those lack a caller, and how many each query has of each service. */
  #whole = 0;
  #unnamed = 0;
  readonly #spansOf = new Map<string, Map<string, number>>();
  /** How many queries were told apart. */
  #toldApart = 1;

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

  get hasQueries(): boolean {
    return this.#asked > 0;
  }

  add(spanId: string, added: IndexedSpan): void {
    const place = this.#places.get(spanId) ?? this.#missing.get(spanId) ?? new Place(spanId);
    const before = place.span;
    const span = before === undefined ? added : merge(before, added);
    place.span = span;
    this.#bytes += bytesOf(span) - (before === undefined ? 0 : bytesOf(before));
    if (span.askedAt !== undefined && before?.askedAt === undefined) this.#asked++;
    if (before === undefined) {
      this.#missing.delete(spanId);
      this.#places.set(spanId, place);
      if (place.held > 0) this.#changed.add(place);
    }
    if (place.parent === undefined && span.parentSpanId !== '') place.putBelow(this.#find(span.parentSpanId));
    if (before === undefined || isDifferent(before, span)) this.#forgetPaths(place);
    if (span.messageAt !== undefined && span.parentSpanId !== '')
      this.#addMessage(this.#find(span.parentSpanId), { at: span.messageAt, spanId });
    place.isSentAgain = before !== undefined;
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
      this.#hold(place, undefined);
      place.isHolder = false;
      place.span = place.recorded = undefined;
      this.#setPath(place, undefined);
      if (place.firstChild !== undefined) this.#missing.set(spanId, place);
      if (span !== undefined) this.#bytes -= bytesOf(span);
      if (span?.askedAt !== undefined) this.#asked--;
    }
  }

  /**
   * The queries of which something is known that was not when they were recorded. What is in `told` will be recorded before them, and
   * is not returned again.
   */
  unrecorded(told?: Told): IndexedQuery[] {
    this.#settleHolders();
    const groups = new Map<string, Group>();
    const ignored = new Map<string, Group>();
    for (const place of this.#unrecorded) {
      const path = this.#walk(place);
      const news = this.#newsOf(place, path, told?.get(place));
      if (news === undefined) continue;
      const { query, mistake, askedAt } = news;
      if (query) addToGroup(groups, groupName(query), query, [place, path], askedAt);
      if (mistake) addToGroup(ignored, beginName(mistake), mistake, [place, path], askedAt);
    }
    if (ignored.size > 0) this.#keepIgnored(ignored);
    if (told !== undefined)
      for (const { places } of [...groups.values(), ...ignored.values()])
        for (const [place, path] of places) told.set(place, path);
    return [...this.#toQueries(groups, false), ...this.#toQueries(ignored, true)];
  }

  /** Undefined if nothing is to be recorded. */
  #newsOf(
    place: Place,
    path: Path,
    told: Path | undefined,
  ): (News & { readonly askedAt: number }) | undefined {
    const askedAt = place.span?.askedAt;
    const news = newsOf(path, told ?? place.recorded, place.isSentAgain);
    if (askedAt !== undefined && (news.query ?? news.mistake) !== undefined) {
      place.isSentAgain = false;
      return { ...news, askedAt };
    }
    if (told === undefined) this.#unrecorded.delete(place);
    return undefined;
  }

  #toQueries(groups: ReadonlyMap<string, Group>, isIgnored: boolean): IndexedQuery[] {
    return [...groups.values()].map(({ path, innerSpanIds, responses, askedAt, places }) => ({
      keys: {
        explicitId: path.explicitId,
        entrySpanId: path.begin?.entry?.key,
        innerSpanIds: [...(innerSpanIds ?? [])],
        responses: [...(responses ?? [])].sort().slice(0, answersMax),
        traceId: this.#traceId,
        service: path.begin?.service ?? '',
        isUnsure: path.begin?.isUnsure ?? false,
        isMessage: isOfMessage(path),
        isIgnored,
      },
      ...callerOf(path),
      askedAt,
      noteRecorded: () => {
        for (const [place, known] of places) this.#noteRecorded(place, known);
      },
    }));
  }

  /**
   * The request that the trace began with, if it says something of queries that another process may have found, or of which it is
   * not known here that they are below it.
   */
  requests(spanIds: readonly string[]): IndexedQuery[] {
    const requests = spanIds.flatMap((spanId) => {
      const span = this.#places.get(spanId)?.span;
      if (span === undefined || span.parentSpanId !== '' || span.entryKind !== 'request') return [];
      const { explicitId, service, isIgnored } = span;
      const caller = callerOf(span);
      if (isIgnored || (explicitId ?? caller.caller) === undefined) return [];
      const keys = { explicitId, traceId: this.#traceId, service, isRequest: true };
      return [{ keys, ...caller, askedAt: 0, noteRecorded: () => {} }];
    });
    return this.hasQueries && this.#whole === this.#asked ? [] : requests;
  }

  /**
   * What is doubtful of the queries below its first span, once all spans between are known: whether one has no caller, and how many
   * more than before it has beside one, without ids from the application, with the service that has most of them. To be called
   * after `unrecorded`, which finds all paths.
   */
  doubts(): { readonly isUnnamed: boolean; readonly more: number; readonly service: string } {
    const more = Math.max(0, this.#spansOf.size - this.#toldApart);
    this.#toldApart += more;
    return { isUnnamed: this.#unnamed > 0, more, service: more > 0 ? this.#serviceOfMost() : '' };
  }

  #setPath(place: Place, path: Path | undefined): void {
    place.path = path;
    const counted = place.span?.askedAt !== undefined && path?.isWhole === true ? path : undefined;
    if (counted === place.counted) return;
    this.#countPath(place.counted, -1);
    this.#countPath(counted, 1);
    place.counted = counted;
  }

  #countPath(path: Path | undefined, more: number): void {
    if (path === undefined) return;
    this.#whole += more;
    if (path.isIgnored) return;
    if (callerOf(path).caller === undefined) this.#unnamed += more;
    if (path.explicitId !== undefined) return;
    const query = path.agentRun ?? path.begin?.entry?.key ?? '';
    const service = path.begin?.service ?? '';
    const ofServices = this.#spansOf.get(query) ?? new Map<string, number>();
    const spans = (ofServices.get(service) ?? 0) + more;
    if (spans > 0) ofServices.set(service, spans);
    else ofServices.delete(service);
    if (ofServices.size > 0) this.#spansOf.set(query, ofServices);
    else this.#spansOf.delete(query);
  }

  /** Of several, the first in the alphabet: whichever was heard of first. */
  #serviceOfMost(): string {
    const queries = new Map<string, number>();
    for (const ofServices of this.#spansOf.values())
      for (const service of ofServices.keys()) queries.set(service, (queries.get(service) ?? 0) + 1);
    const [most = ['']] = [...queries].sort(([a, ofA], [b, ofB]) => ofB - ofA || (a < b ? -1 : 1));
    return most[0];
  }

  #connectionOf(place: Place | undefined, depth: number): Connection | undefined {
    const messages = place && this.#messages.get(place.spanId);
    return messages && { place, messages, depth };
  }

  /** Forgets the earliest ones first: what was asked after these then belongs to the connection, as before they arrived. */
  #addMessage(connection: Place, message: Message): void {
    const messages = this.#messages.get(connection.spanId) ?? [];
    const at = countUpTo(messages, message);
    if (messages[at - 1]?.spanId === message.spanId) return;
    messages.splice(at, 0, message);
    if (messages.length > traceSpansMax) messages.shift();
    else this.#bytes += messageBytes;
    this.#messages.set(connection.spanId, messages);
    this.#forgetPaths(connection);
  }

  /** Removes those of which another span is to be counted. */
  #keepIgnored(ignored: Map<string, Group>): void {
    for (const place of this.#places.values())
      if (place.span?.askedAt !== undefined && place.path?.isIgnored === false)
        ignored.delete(beginName(place.path));
  }

  /** An entry with spans of queries of its own takes over those of its service below it, such as the steps of a queue. */
  #settleHolders(): void {
    for (const place of this.#unrecorded) this.#walk(place);
    for (const place of this.#changed) {
      if (place.isHolder === place.held > 0) continue;
      place.isHolder = !place.isHolder;
      this.#forgetPaths(place);
    }
    this.#changed.clear();
  }

  #hold(place: Place, holder: Place | undefined): void {
    if (place.holder === holder) return;
    for (const [one, more] of [
      [place.holder, -1],
      [holder, 1],
    ] as const) {
      if (one === undefined) continue;
      one.held += more;
      this.#changed.add(one);
    }
    place.holder = holder;
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
      this.#setPath(place, undefined);
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
      const above: Path = place.parent?.path ?? path;
      path = extend(place, above, this.#connectionOf(place.parent, above.entries.length) ?? above.connection);
      this.#setPath(place, path);
      const isFirst = above.begin === undefined && path.begin !== undefined && !path.isIgnored;
      const nearest = path.entries.at(-1)?.place;
      this.#hold(place, isFirst && nearest !== place ? nearest : undefined);
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

function extend(place: Place, above: Path, connection: Connection | undefined): Path {
  const { span } = place;
  if (span === undefined) return above;
  const { explicitId = above.explicitId, caller = above.caller, askedAt } = span;
  const { agentRun = above.agentRun } = span;
  const hint = greater(above.hint, span.hint);
  const isWhole = above.isWhole || span.parentSpanId === '';
  const isIgnored = above.isIgnored || span.isIgnored;
  const begins = above.begin === undefined && askedAt !== undefined;
  const isSame =
    explicitId === above.explicitId &&
    caller === above.caller &&
    hint === above.hint &&
    !span.isEntry &&
    !begins &&
    isWhole === above.isWhole &&
    agentRun === above.agentRun &&
    connection?.messages === above.connection?.messages &&
    isIgnored === above.isIgnored;
  if (isSame) return above;
  const own = span.isEntry ? withEntry(above.entries, place, span) : above.entries;
  const message = begins ? messageBefore(askedAt, connection, span.service) : undefined;
  const entries = message === undefined ? own : own.toSpliced(connection?.depth ?? own.length, 0, message);
  const begin = begins ? beginOf(entries, isWhole, span) : above.begin;
  return { isWhole, isIgnored, agentRun, explicitId, caller, hint, entries, connection, begin };
}

function greater(one: string, other: string): string {
  return one > other ? one : other;
}

function callerOf({
  caller,
  hint,
}: Pick<IndexedSpan, 'caller' | 'hint'>): Pick<IndexedQuery, 'caller' | 'isHinted'> {
  return { caller: caller ?? (hint || undefined), isHinted: caller === undefined && hint !== '' };
}

/** How many messages are not later than this one. */
function countUpTo(messages: readonly Message[], { at, spanId }: Message): number {
  let [from, to] = [0, messages.length];
  while (from < to) {
    const middle = (from + to) >> 1;
    const one = messages[middle];
    if (one !== undefined && (one.at < at || (one.at === at && one.spanId <= spanId))) from = middle + 1;
    else to = middle;
  }
  return from;
}

function messageBefore(
  askedAt: number,
  connection: Connection | undefined,
  service: string,
): Entry | undefined {
  if (connection === undefined) return undefined;
  const { place, messages } = connection;
  // No id of a span is greater.
  const message = messages[countUpTo(messages, { at: askedAt, spanId: 'g' }) - 1];
  return message && { place, service, key: message.spanId, kind: 'message' };
}

function withEntry(
  above: readonly Entry[],
  place: Place,
  { parentSpanId, run, service, entryKind: kind }: IndexedSpan,
): readonly Entry[] {
  const key = parentSpanId === '' ? undefined : (run ?? place.spanId);
  const kept = above.length < entriesMax ? above : above.toSpliced(entriesMax / 2, 1);
  return [...kept, { place, service, key, kind }];
}

/**
 * A page asks several questions, so it is not the query of each. A request that asks for work is, also of what other servers,
 * queues and workflows do for it. So is an entry that asks a model itself: others of its service below it are its steps.
 * Until it is known where a step comes from, it is one query with all others of its trace: a query that turns out to be another
 * one can be added later, and none can be taken back.
 */
function beginOf(entries: readonly Entry[], isWhole: boolean, { service }: IndexedSpan): Begin {
  const nearest = entries.at(-1);
  const entry =
    entries.find(({ kind }) => kind === 'message') ??
    entries.find(({ kind }) => kind === 'request') ??
    entries.slice(0, 1).find(({ kind }) => kind === 'root') ??
    entries.find(({ place, service: own }) => place.isHolder && own === nearest?.service) ??
    nearest;
  if (!isWhole && entry?.kind === 'step') return { entry: undefined, service, isUnsure: true };
  return { entry, service: entry?.service ?? service, isUnsure: false };
}

function isOfMessage({ begin }: Path): boolean {
  return begin?.entry?.kind === 'message';
}

/** The entries below the one where the query begins. */
function innerKeys({ entries, begin }: Path): string[] {
  if (begin === undefined || begin.isUnsure) return [];
  const first = begin.entry;
  if (first !== undefined && first === entries.at(-1)) return [];
  return entries
    .slice(first === undefined ? 0 : entries.indexOf(first) + 1)
    .flatMap(({ key }) => (key === undefined || key === first?.key ? [] : [key]));
}

/** What was found of the spans of queries, and is not recorded yet. */
export type Told = Map<Place, Path>;

/** The spans of one query by the same caller. */
interface Group {
  readonly path: Path;
  readonly places: (readonly [Place, Path])[];
  /** Undefined for none: most queries have none. */
  innerSpanIds: Set<string> | undefined;
  responses: Set<string> | undefined;
  askedAt: number;
}

function beginName({ explicitId, begin }: Path): string {
  return nameOf(explicitId, begin?.entry?.key);
}

function groupName({ explicitId, caller, hint, begin }: Path): string {
  return `${begin?.isUnsure} ${nameOf(explicitId, begin?.entry?.key, caller, hint, begin?.service)}`;
}

/** Different for all texts: each begins with its length. */
function nameOf(...texts: readonly (string | undefined)[]): string {
  let name = '';
  for (const text of texts) name += text === undefined ? '-' : `${text.length} ${text}`;
  return name;
}

/** `place` is a span, and what is known of it now. */
function addToGroup(
  groups: Map<string, Group>,
  name: string,
  path: Path,
  place: readonly [Place, Path],
  askedAt: number,
): void {
  let group = groups.get(name);
  if (group === undefined) {
    group = { path, places: [], innerSpanIds: undefined, responses: undefined, askedAt };
    groups.set(name, group);
  }
  group.places.push(place);
  for (const spanId of innerKeys(path)) {
    group.innerSpanIds ??= new Set();
    group.innerSpanIds.add(spanId);
  }
  const responseId = place[0].span?.responseId;
  const responses = responseId === undefined ? [] : responseNames(responseId, askedAt);
  for (const name of path.agentRun === undefined ? responses : [agentRunName(path.agentRun), ...responses]) {
    group.responses ??= new Set();
    group.responses.add(name);
  }
  group.askedAt = Math.min(group.askedAt, askedAt);
}

/**
 * What is to be recorded of a span: its query, and the one that it was recorded as by mistake, because it is to be ignored, or
 * its message had not arrived.
 */
interface News {
  readonly query?: Path | undefined;
  readonly mistake?: Path | undefined;
}

function newsOf(path: Path, recorded: Path | undefined, isSentAgain: boolean): News {
  if (recorded !== undefined && !isSentAgain && saysNothingNew(path, recorded)) return {};
  const isOfOther =
    recorded !== undefined &&
    recorded.explicitId === undefined &&
    [recorded, path].some(isOfMessage) &&
    recorded.begin?.entry?.key !== path.begin?.entry?.key;
  return {
    query: path.isIgnored ? undefined : path,
    mistake: (path.isIgnored || isOfOther) && recorded?.isIgnored !== true ? recorded : undefined,
  };
}

/** Whether a path has the same keys as before, and no caller where none was known. */
function saysNothingNew(path: Path, before: Path): boolean {
  return (
    path === before ||
    (path.isIgnored === before.isIgnored &&
      path.explicitId === before.explicitId &&
      (before.caller !== undefined || (path.caller === undefined && path.hint === before.hint)) &&
      path.begin?.entry?.key === before.begin?.entry?.key &&
      path.begin?.isUnsure === before.begin?.isUnsure &&
      path.agentRun === before.agentRun &&
      innerKeys(path).join() === innerKeys(before).join())
  );
}

/** What two records with the same id say together, whichever came first. */
function merge(one: IndexedSpan, other: IndexedSpan): IndexedSpan {
  const times = [one.askedAt, other.askedAt].filter((time) => time !== undefined);
  return {
    parentSpanId: one.parentSpanId || other.parentSpanId,
    isEntry: one.isEntry || other.isEntry,
    // In the order of the alphabet: a message, a request, a root, a step.
    entryKind: [one.entryKind, other.entryKind].filter((kind) => kind !== undefined).sort()[0],
    run: one.run ?? other.run,
    agentRun: one.agentRun ?? other.agentRun,
    isIgnored: one.isIgnored || other.isIgnored,
    service: one.service || other.service,
    explicitId: one.explicitId ?? other.explicitId,
    caller: one.caller ?? other.caller,
    hint: greater(one.hint, other.hint),
    askedAt: times.length === 0 ? undefined : Math.min(...times),
    responseId: one.responseId ?? other.responseId,
    messageAt: one.messageAt ?? other.messageAt,
  };
}

/** Whether the paths through a span say something else. */
function isDifferent(one: IndexedSpan, other: IndexedSpan): boolean {
  return (
    one.parentSpanId !== other.parentSpanId ||
    one.isEntry !== other.isEntry ||
    one.entryKind !== other.entryKind ||
    one.run !== other.run ||
    one.agentRun !== other.agentRun ||
    one.isIgnored !== other.isIgnored ||
    one.service !== other.service ||
    one.explicitId !== other.explicitId ||
    one.caller !== other.caller ||
    one.hint !== other.hint ||
    (one.askedAt === undefined) !== (other.askedAt === undefined)
  );
}

function bytesOf({
  service,
  run = '',
  agentRun = '',
  explicitId = '',
  caller = '',
  hint,
  responseId = '',
}: IndexedSpan): number {
  const texts = [service, run, agentRun, explicitId, caller, hint, responseId];
  return texts.reduce((bytes, text) => bytes + 2 * text.length, spanBytes);
}
