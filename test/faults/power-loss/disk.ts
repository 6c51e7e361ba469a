/**
 * A disk that loses power. It takes the calls of a process, knows what the syncs among them have made durable, and builds
 * what the disk may contain after a power failure: of everything since, each sector of 512 bytes, each file size and each
 * change of a name may be there or not, in any order. A name is durable once its folder was synced, the bytes of a file once
 * the file was.
 */
import { mkdirSync, readdirSync, readFileSync, writeFileSync } from 'node:fs';
import { dirname, join } from 'node:path';
import type { Draw } from '../draw.js';
import type { Call } from './trace.js';

const sectorBytes = 512;

/** Bytes that were written, or a cut, which is a write of zeros from its offset on. */
interface Change {
  readonly at: number;
  readonly offset: number;
  readonly data: Uint8Array;
  readonly sizeAfter: number;
}

/** How much of what is not durable is there after the power failure. */
type Loss = 'all lost' | 'nothing lost' | 'a moment' | 'any order';

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

class DiskFile {
  readonly #durable: Contents;
  readonly #now: Contents;
  #pending: Change[] = [];

  constructor(contents: Uint8Array = new Uint8Array()) {
    this.#durable = new Contents(contents);
    this.#now = new Contents(contents);
  }

  /** As the process sees it. */
  get contents(): Buffer {
    return this.#now.bytes;
  }

  write(at: number, offset: number, data: Uint8Array): void {
    this.#change({ at, offset, data, sizeAfter: Math.max(this.contents.length, offset + data.length) });
  }

  truncate(at: number, size: number): void {
    const [from, to] = [Math.min(size, this.contents.length), Math.max(size, this.contents.length)];
    if (from < to) this.#change({ at, offset: from, data: Buffer.alloc(to - from), sizeAfter: size });
  }

  /** Makes durable what was changed before a moment. */
  sync(before: number): void {
    const firstAfter = this.#pending.findIndex(({ at }) => at >= before);
    const done = this.#pending.splice(0, firstAfter === -1 ? this.#pending.length : firstAfter);
    for (const change of done) this.#durable.apply(change);
  }

  /** What the file may contain after a power failure. */
  after(loss: Loss, draw: Draw): Buffer {
    const changes = this.#pending;
    const sizes = keptOf(loss, changes.length, draw);
    const durable = this.#durable.bytes;
    const size = sizes === 0 ? durable.length : (changes[sizes - 1]?.sizeAfter ?? 0);
    const ends = changes.map(({ offset, data }) => offset + data.length);
    const result = Buffer.alloc(Math.max(durable.length, size, ...ends));
    durable.copy(result);
    // In any order, a sector has one of the states that it had, whatever the state of its neighbors.
    const versions = new Map<number, number>();
    const versionOf = (sector: number): number => {
      const version = versions.get(sector) ?? (loss === 'any order' ? draw.below(changes.length + 1) : sizes);
      versions.set(sector, version);
      return version;
    };
    for (const [index, { offset, data }] of changes.entries()) {
      for (let from = offset; from < offset + data.length; ) {
        const sector = Math.floor(from / sectorBytes);
        const to = Math.min((sector + 1) * sectorBytes, offset + data.length);
        if (index < versionOf(sector)) result.set(data.subarray(from - offset, to - offset), from);
        from = to;
      }
    }
    return result.subarray(0, size);
  }

  #change(change: Change): void {
    this.#now.apply(change);
    this.#pending.push(change);
  }
}

class Folder {
  readonly entries = new Map<string, Entry>();
}

type Entry = DiskFile | Folder;

/** Changes of names that are there together or not at all. They are durable when `folder` was synced. */
interface NameChange {
  readonly at: number;
  readonly folder: Folder;
  readonly names: readonly { readonly folder: Folder; readonly name: string; readonly entry?: Entry }[];
}

interface Descriptor {
  readonly entry: Entry;
  readonly path: string;
  readonly appends: boolean;
  offset: number;
}

/** Which syncs do nothing: a fault that the checks must find. `path` is that of the file or folder. */
export type Planted = (path: string, isFolder: boolean) => boolean;

export class Disk {
  readonly #root: string;
  readonly #planted: Planted;
  /** The names as the process sees them. */
  readonly #now = new Folder();
  /** The names that are durable. */
  #durable = new Map<Folder, Map<string, Entry>>();
  #pending: NameChange[] = [];
  readonly #descriptors = new Map<number, Descriptor>();
  readonly #syncs = new Map<number, { readonly at: number; readonly descriptor: Descriptor }>();
  readonly #files = new Set<DiskFile>();
  #at = 0;
  /** How many syncs did nothing because of `Planted`. */
  skipped = 0;

  /** @param before a copy of the folder `root` from before the first call, which is durable */
  constructor(root: string, before: string, planted: Planted = () => false) {
    this.#root = root;
    this.#planted = planted;
    this.#load(before, this.#now);
    this.syncAll();
  }

  take(call: Call): void {
    this.#at++;
    if (call.kind === 'open') this.#open(call);
    else if (call.kind === 'write') this.#write(this.#of(call.descriptor), call.data, call.offset);
    else if (call.kind === 'copy') this.#copy(this.#of(call.from), this.#of(call.to), call.bytes);
    else if (call.kind === 'truncate') fileOf(this.#of(call.descriptor)).truncate(this.#at, call.size);
    else if (call.kind === 'mkdir') this.#change([{ path: call.path, entry: new Folder() }]);
    else if (call.kind === 'remove') this.#change([{ path: call.path }]);
    else if (call.kind === 'link') this.#change([{ path: call.to, entry: this.#entryAt(call.from) }]);
    else if (call.kind === 'rename')
      this.#change([{ path: call.to, entry: this.#entryAt(call.from) }, { path: call.from }]);
    else if (call.kind === 'sync-start')
      this.#syncs.set(call.sync, { at: this.#at, descriptor: this.#of(call.descriptor) });
    else if (call.kind === 'sync-end') this.#sync(call.sync);
  }

  /** Makes everything durable, as the disk does by itself after a while. */
  syncAll(): void {
    this.#at++;
    for (const file of this.#files) file.sync(this.#at);
    for (const change of this.#pending) applyTo(this.#durable, change);
    this.#pending = [];
  }

  /** Writes what the disk may contain after a power failure at this moment into an empty folder. */
  writeAfterPowerLoss(target: string, draw: Draw): void {
    const loss = draw.pick(['all lost', 'nothing lost', 'a moment', 'any order', 'any order'] as const);
    const names = new Map([...this.#durable].map(([folder, entries]) => [folder, new Map(entries)]));
    const kept = keptOf(loss, this.#pending.length, draw);
    for (const [index, change] of this.#pending.entries()) {
      if (loss === 'any order' ? draw.oneIn(2) : index < kept) applyTo(names, change);
    }
    const write = (folder: Folder, path: string): void => {
      mkdirSync(path, { recursive: true });
      for (const [name, entry] of names.get(folder) ?? []) {
        const file = join(path, name);
        if (entry instanceof Folder) write(entry, file);
        else writeAfter(file, entry, loss, draw);
      }
    };
    write(this.#now, target);
  }

  /** What differs between this and the folder itself, after the last call. */
  differences(): string[] {
    return differencesIn(this.#now, this.#root);
  }

  #load(path: string, folder: Folder): void {
    for (const one of readdirSync(path, { withFileTypes: true })) {
      const inside = join(path, one.name);
      const entry = one.isDirectory() ? new Folder() : this.#file(readFileSync(inside));
      folder.entries.set(one.name, entry);
      this.#pending.push({ at: 0, folder, names: [{ folder, name: one.name, entry }] });
      if (entry instanceof Folder) this.#load(inside, entry);
    }
  }

  #file(contents?: Uint8Array): DiskFile {
    const file = new DiskFile(contents);
    this.#files.add(file);
    return file;
  }

  #open({ path, descriptor, flags }: Extract<Call, { kind: 'open' }>): void {
    const existing = this.#find(path);
    if (existing === undefined) this.#change([{ path, entry: this.#file() }]);
    const entry = existing ?? this.#entryAt(path);
    if (flags.includes('O_TRUNC') && entry instanceof DiskFile) entry.truncate(this.#at, 0);
    this.#descriptors.set(descriptor, { entry, path, appends: flags.includes('O_APPEND'), offset: 0 });
  }

  #write(descriptor: Descriptor, data: Uint8Array, offset: number | undefined): void {
    const file = fileOf(descriptor);
    const at = offset ?? (descriptor.appends ? file.contents.length : descriptor.offset);
    file.write(this.#at, at, data);
    if (offset === undefined) descriptor.offset = at + data.length;
  }

  #copy(from: Descriptor, to: Descriptor, bytes: number): void {
    const data = Buffer.from(fileOf(from).contents.subarray(from.offset, from.offset + bytes));
    from.offset += bytes;
    this.#write(to, data, undefined);
  }

  #change(changed: readonly { readonly path: string; readonly entry?: Entry }[]): void {
    const names = changed.map(({ path, ...entry }) => ({
      folder: this.#folderOf(path),
      name: nameOf(path),
      ...entry,
    }));
    for (const { folder, name, entry } of names) {
      if (entry === undefined) folder.entries.delete(name);
      else folder.entries.set(name, entry);
    }
    const [first] = names;
    if (first !== undefined) this.#pending.push({ at: this.#at, folder: first.folder, names });
  }

  #sync(number: number): void {
    const sync = this.#syncs.get(number);
    if (sync === undefined) throw new Error(`sync ${number} ended without a start`);
    const { at, descriptor } = sync;
    const { entry, path } = descriptor;
    if (this.#planted(path, entry instanceof Folder)) {
      this.skipped++;
      return;
    }
    if (entry instanceof DiskFile) entry.sync(at);
    const isDone = (change: NameChange): boolean => change.folder === entry && change.at < at;
    for (const change of this.#pending.filter(isDone)) applyTo(this.#durable, change);
    this.#pending = this.#pending.filter((change) => !isDone(change));
  }

  #of(descriptor: number): Descriptor {
    const found = this.#descriptors.get(descriptor);
    if (found === undefined) throw new Error(`descriptor ${descriptor} is not open`);
    return found;
  }

  #find(path: string): Entry | undefined {
    let entry: Entry | undefined = this.#now;
    for (const name of path.slice(this.#root.length).split('/').filter(Boolean))
      entry = entry instanceof Folder ? entry.entries.get(name) : undefined;
    return entry;
  }

  #entryAt(path: string): Entry {
    const entry = this.#find(path);
    if (entry === undefined) throw new Error(`there is no ${path}`);
    return entry;
  }

  #folderOf(path: string): Folder {
    const folder = this.#find(dirname(path));
    if (folder instanceof Folder) return folder;
    throw new Error(`${path} is in no folder`);
  }
}

function differencesIn(folder: Folder, path: string): string[] {
  const names = new Set([...readdirSync(path), ...folder.entries.keys()]);
  return [...names].flatMap((name) => {
    const file = join(path, name);
    const entry = folder.entries.get(name);
    if (entry === undefined) return [`${file} is not known`];
    if (entry instanceof Folder) return differencesIn(entry, file);
    return isShared(name) || readFileSync(file).equals(entry.contents) ? [] : [`${file} differs`];
  });
}

function keptOf(loss: Loss, changes: number, draw: Draw): number {
  if (loss === 'all lost') return 0;
  return loss === 'nothing lost' ? changes : draw.below(changes + 1);
}

function applyTo(names: Map<Folder, Map<string, Entry>>, change: NameChange): void {
  for (const { folder, name, entry } of change.names) {
    const entries = names.get(folder) ?? new Map<string, Entry>();
    names.set(folder, entries);
    if (entry === undefined) entries.delete(name);
    else entries.set(name, entry);
  }
}

function writeAfter(path: string, file: DiskFile, loss: Loss, draw: Draw): void {
  // SQLite writes this one in memory, and makes it again when it finds no other user.
  if (!isShared(path)) writeFileSync(path, file.after(loss, draw));
  else if (draw.oneIn(2)) writeFileSync(path, Buffer.alloc(file.contents.length));
}

const isShared = (path: string): boolean => path.endsWith('-shm');

const nameOf = (path: string): string => path.slice(path.lastIndexOf('/') + 1);

function fileOf({ entry, path }: Descriptor): DiskFile {
  if (entry instanceof DiskFile) return entry;
  throw new Error(`${path} is a folder`);
}
