/** A disk that loses power. It takes the calls of a process, and writes what the disk may contain after a power failure. */
import { mkdirSync, readdirSync, readFileSync, writeFileSync } from 'node:fs';
import { dirname, join } from 'node:path';
import { type Below, type Loss, LossyFile, LossyNames, lossOf } from '../../support/storage/lossy-disk.js';
import type { Draw } from '../draw.js';
import type { Call } from './trace.js';

class Folder {
  readonly entries = new Map<string, Entry>();
}

type Entry = LossyFile | Folder;

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
  readonly #names = new LossyNames<Folder, Entry>();
  readonly #descriptors = new Map<number, Descriptor>();
  readonly #syncs = new Map<number, { readonly at: number; readonly descriptor: Descriptor }>();
  readonly #files = new Set<LossyFile>();
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
    else if (call.kind === 'truncate') fileOf(this.#of(call.descriptor)).truncate(call.size, this.#at);
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
    this.#names.sync();
  }

  /** Writes what the disk may contain after a power failure at this moment into an empty folder. */
  writeAfterPowerLoss(target: string, draw: Draw): void {
    const below: Below = (end) => draw.below(end);
    const loss = lossOf(below);
    const names = this.#names.after(loss, below);
    const write = (folder: Folder, path: string): void => {
      mkdirSync(path, { recursive: true });
      for (const [name, entry] of names.get(folder) ?? []) {
        const file = join(path, name);
        if (entry instanceof Folder) write(entry, file);
        else writeAfter(file, entry, loss, below);
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
      this.#names.change({ at: 0, folder, names: [{ folder, name: one.name, entry }] });
      if (entry instanceof Folder) this.#load(inside, entry);
    }
  }

  #file(contents?: Uint8Array): LossyFile {
    const file = new LossyFile(contents);
    this.#files.add(file);
    return file;
  }

  #open({ path, descriptor, flags }: Extract<Call, { kind: 'open' }>): void {
    const existing = this.#find(path);
    if (existing === undefined) this.#change([{ path, entry: this.#file() }]);
    const entry = existing ?? this.#entryAt(path);
    if (flags.includes('O_TRUNC') && entry instanceof LossyFile) entry.truncate(0, this.#at);
    this.#descriptors.set(descriptor, { entry, path, appends: flags.includes('O_APPEND'), offset: 0 });
  }

  #write(descriptor: Descriptor, data: Uint8Array, offset: number | undefined): void {
    const file = fileOf(descriptor);
    const at = offset ?? (descriptor.appends ? file.contents.length : descriptor.offset);
    file.write(at, data, this.#at);
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
    if (first !== undefined) this.#names.change({ at: this.#at, folder: first.folder, names });
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
    if (entry instanceof LossyFile) entry.sync(at);
    else this.#names.sync(entry, at);
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

function writeAfter(path: string, file: LossyFile, loss: Loss, below: Below): void {
  // SQLite writes this one in memory, and makes it again when it finds no other user.
  if (!isShared(path)) writeFileSync(path, file.after(loss, below));
  else if (below(2) === 0) writeFileSync(path, Buffer.alloc(file.contents.length));
}

const isShared = (path: string): boolean => path.endsWith('-shm');

const nameOf = (path: string): string => path.slice(path.lastIndexOf('/') + 1);

function fileOf({ entry, path }: Descriptor): LossyFile {
  if (entry instanceof LossyFile) return entry;
  throw new Error(`${path} is a folder`);
}
