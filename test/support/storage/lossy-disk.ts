/**
 * What a disk may contain after a power failure: of everything since the last sync, each sector, each file size and each change of
 * a name may be there or not, in any order. A name is durable once its folder was synced, the bytes of a file once the file was.
 */

/** A random whole number from 0 to `end` - 1. */
export type Below = (end: number) => number;

/** How much of what is not durable is there after the power failure. */
export type Loss = 'all lost' | 'nothing lost' | 'a moment' | 'any order';

/**
 * Bytes that were written, or a cut, which is a write of zeros from its offset on. A cut is there or not as a whole: it is a change of
 * the file's size, which file systems keep in one piece.
 */
interface Change {
  readonly at: number;
  readonly offset: number;
  readonly data: Uint8Array;
  readonly sizeAfter: number;
}

/** Bytes that grow by doubling. */
class Contents {
  #bytes: Buffer;
  #size: number;

  constructor(bytes: Uint8Array) {
    this.#bytes = Buffer.from(bytes);
    this.#size = bytes.length;
  }

  get bytes(): Buffer {
    return this.#bytes.subarray(0, this.#size);
  }

  apply({ offset, data, sizeAfter }: Omit<Change, 'at'>): void {
    const end = offset + data.length;
    if (end > this.#bytes.length) {
      const larger = Buffer.alloc(2 * end);
      this.bytes.copy(larger);
      this.#bytes = larger;
    }
    this.#bytes.set(data, offset);
    this.#size = sizeAfter;
  }
}

export class LossyFile {
  readonly #sectorBytes: number;
  readonly #durable: Contents;
  readonly #now: Contents;
  #pending: Change[] = [];
  /** The numbers of sectors whose sync failed, and the offset from which on their bytes are not on disk. */
  readonly #unwritten = new Map<number, number>();

  constructor(contents: Uint8Array = new Uint8Array(), sectorBytes = 512) {
    this.#sectorBytes = sectorBytes;
    this.#durable = new Contents(contents);
    this.#now = new Contents(contents);
  }

  /** As processes see it. */
  get contents(): Buffer {
    return this.#now.bytes;
  }

  write(offset: number, data: Uint8Array, at = 0): void {
    this.#change({ at, offset, data, sizeAfter: Math.max(this.contents.length, offset + data.length) });
  }

  truncate(size: number, at = 0): void {
    const [from, to] = [Math.min(size, this.contents.length), Math.max(size, this.contents.length)];
    if (from < to) this.#change({ at, offset: from, data: Buffer.alloc(to - from), sizeAfter: size });
  }

  /** Makes durable what was changed before a moment, but for what a failed sync gave up. */
  sync(before = Number.POSITIVE_INFINITY): void {
    const firstAfter = this.#pending.findIndex(({ at }) => at >= before);
    const done = this.#pending.splice(0, firstAfter === -1 ? this.#pending.length : firstAfter);
    for (const change of done) this.#durable.apply(change);
    for (const [sector, from] of this.#unwritten) {
      const start = sector * this.#sectorBytes;
      this.#durable.bytes.subarray(Math.max(from, start), start + this.#sectorBytes).fill(0);
    }
  }

  /** After a failed sync, the kernel takes what it did not write for written, until it is written again. */
  failSync(): void {
    const from = Math.min(this.#durable.bytes.length, ...this.#pending.map(({ offset }) => offset));
    for (const sector of this.#sectors(from, this.contents.length + 1)) {
      if (!this.#unwritten.has(sector)) this.#unwritten.set(sector, from);
    }
  }

  /** What the file may contain after a power failure. */
  after(loss: Loss, below: Below): Buffer {
    const changes = this.#pending;
    const sizes = keptOf(loss, changes.length, below);
    const durable = this.#durable.bytes;
    const size = sizes === 0 ? durable.length : (changes[sizes - 1]?.sizeAfter ?? 0);
    const ends = changes.map(({ offset, data }) => offset + data.length);
    const result = Buffer.alloc(Math.max(durable.length, size, ...ends));
    durable.copy(result);
    // In any order, a sector has one of the states that it had, whatever the state of its neighbors.
    const versions = new Map<number, number>();
    const versionOf = (sector: number): number => {
      const version = versions.get(sector) ?? (loss === 'any order' ? below(changes.length + 1) : sizes);
      versions.set(sector, version);
      return version;
    };
    for (const [index, { offset, data, sizeAfter }] of changes.entries()) {
      for (const sector of this.#sectors(offset, offset + data.length)) {
        const from = Math.max(offset, sector * this.#sectorBytes);
        const to = Math.min((sector + 1) * this.#sectorBytes, offset + data.length);
        const isKept = sizeAfter === offset ? index < sizes : index < versionOf(sector);
        if (isKept) result.set(data.subarray(from - offset, to - offset), from);
      }
    }
    return result.subarray(0, size);
  }

  #change(change: Change): void {
    const { offset, data } = change;
    for (const sector of this.#sectors(offset, offset + data.length)) this.#unwritten.delete(sector);
    this.#now.apply(change);
    this.#pending.push(change);
  }

  *#sectors(from: number, to: number): Iterable<number> {
    for (let sector = Math.floor(from / this.#sectorBytes); sector * this.#sectorBytes < to; sector++)
      yield sector;
  }
}

/** Names that change together or not at all; without an entry, the name goes. They are durable when `folder` was synced. */
interface NameChange<Folder, Entry> {
  readonly at: number;
  readonly folder: Folder;
  readonly names: readonly { readonly folder: Folder; readonly name: string; readonly entry?: Entry }[];
}

type Names<Folder, Entry> = Map<Folder, Map<string, Entry>>;

export class LossyNames<Folder, Entry> {
  readonly #durable: Names<Folder, Entry> = new Map();
  #pending: NameChange<Folder, Entry>[] = [];

  change(change: NameChange<Folder, Entry>): void {
    this.#pending.push(change);
  }

  /** Makes durable what was changed in a folder, or in all, before a moment. */
  sync(folder?: Folder, before = Number.POSITIVE_INFINITY): void {
    const isDone = (change: NameChange<Folder, Entry>): boolean =>
      (folder === undefined || change.folder === folder) && change.at < before;
    for (const change of this.#pending.filter(isDone)) applyTo(this.#durable, change);
    this.#pending = this.#pending.filter((change) => !isDone(change));
  }

  /** The names that may be there after a power failure. */
  after(loss: Loss, below: Below): Names<Folder, Entry> {
    const names = new Map([...this.#durable].map(([folder, entries]) => [folder, new Map(entries)]));
    const kept = keptOf(loss, this.#pending.length, below);
    for (const [index, change] of this.#pending.entries()) {
      if (loss === 'any order' ? below(2) === 0 : index < kept) applyTo(names, change);
    }
    return names;
  }
}

/** How much is lost, in any order more often than otherwise. */
export function lossOf(below: Below): Loss {
  return (['all lost', 'nothing lost', 'a moment'] as const)[below(5)] ?? 'any order';
}

function keptOf(loss: Loss, changes: number, below: Below): number {
  if (loss === 'all lost') return 0;
  return loss === 'nothing lost' ? changes : below(changes + 1);
}

function applyTo<Folder, Entry>(names: Names<Folder, Entry>, change: NameChange<Folder, Entry>): void {
  for (const { folder, name, entry } of change.names) {
    const entries = names.get(folder) ?? new Map<string, Entry>();
    names.set(folder, entries);
    if (entry === undefined) entries.delete(name);
    else entries.set(name, entry);
  }
}
