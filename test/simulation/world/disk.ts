/**
 * The disk of a simulated machine, with the functions of `node:fs` that the spool uses. What was not synced may be lost in a power
 * failure. Calls take time, fail, write only a part, or are the last thing that a process does.
 */
import { type Below, LossyFile, LossyNames, lossOf } from '../../support/storage/lossy-disk.js';
import type { Process } from './process.js';
import type { World } from './world.js';

/** How often calls fail, per call. */
export interface DiskFaults {
  readonly write: number;
  readonly sync: number;
  /** Renaming. */
  readonly name: number;
  /** Syncing the names of a folder. */
  readonly folder: number;
  /** The process is killed during the call. */
  readonly kill: number;
  /** The longest time of a call in milliseconds. */
  readonly slownessMs: number;
}

/** Real ones have 512 bytes, which are many lines of a spool. One lock fits in these. */
const sectorBytes = 24;
const bootIdFile = '/proc/sys/kernel/random/boot_id';
/** The spool's file, the next one, and the folder or the lock. */
const openMax = 3;

/** Thrown into a process that was killed during a call. */
export class Killed extends Error {}

class File {
  readonly bytes: LossyFile;
  changedAtMs: number;

  constructor(changedAtMs: number, contents?: Uint8Array) {
    this.bytes = new LossyFile(contents, sectorBytes);
    this.changedAtMs = changedAtMs;
  }
}

/** The folder of all names: paths are names here. */
const root = '';

export const noDiskFaults: DiskFaults = { write: 0, sync: 0, name: 0, folder: 0, kill: 0, slownessMs: 0 };

export class Disk {
  isFull = false;
  faults: DiskFaults;
  readonly #world: World;
  #names = new Map<string, File>();
  #lossyNames = new LossyNames<string, File>();
  #boots = 0;

  constructor(world: World, faults: DiskFaults) {
    this.#world = world;
    this.faults = faults;
  }

  /** Everything that was not synced is lost, or not. */
  losePower(): void {
    this.#boots++;
    const below: Below = (end) => this.#world.random.int(end);
    const loss = lossOf(below);
    const left = this.#lossyNames.after(loss, below).get(root) ?? [];
    this.#names = new Map();
    this.#lossyNames = new LossyNames();
    for (const [name, { bytes, changedAtMs }] of left)
      this.#set(name, new File(changedAtMs, bytes.after(loss, below)));
    this.syncNames();
  }

  /** `node:fs` for a process. */
  modulesFor(process: () => Process): Readonly<Record<string, unknown>> {
    return new Calls(this.#world, this, process).functions;
  }

  /** The names of the files in a folder. */
  list(folder: string): string[] {
    return [...this.#names.keys()].filter((name) => name.startsWith(`${folder}/`));
  }

  changedAtMs(name: string): number | undefined {
    return this.#names.get(name)?.changedAtMs;
  }

  read(name: string): string | undefined {
    return name === bootIdFile ? `boot-${this.#boots}\n` : this.#names.get(name)?.bytes.contents.toString();
  }

  has(name: string): boolean {
    return this.#names.has(name);
  }

  open(name: string): File {
    const known = this.#names.get(name);
    if (known !== undefined) return known;
    const file = new File(this.#world.nowMs);
    this.#set(name, file);
    return file;
  }

  rename(from: string, to: string): void {
    const file = this.#names.get(from);
    if (file === undefined) throw failure('ENOENT');
    this.#change([{ name: to, entry: file }, { name: from }]);
  }

  remove(name: string): void {
    this.#change([{ name }]);
  }

  syncNames(): void {
    this.#lossyNames.sync();
  }

  #set(name: string, entry: File): void {
    this.#change([{ name, entry }]);
  }

  #change(names: readonly { readonly name: string; readonly entry?: File }[]): void {
    for (const { name, entry } of names) {
      if (entry === undefined) this.#names.delete(name);
      else this.#names.set(name, entry);
    }
    this.#lossyNames.change({ at: 0, folder: root, names: names.map((one) => ({ folder: root, ...one })) });
  }
}

/** The calls of one process, with its descriptors. */
class Calls {
  readonly #world: World;
  readonly #disk: Disk;
  readonly #process: () => Process;
  readonly #open = new Map<number, File | 'folder'>();
  /** Descriptors whose writes begin at the start of the file: those of locks. */
  readonly #overwriting = new Set<number>();
  #next = 3;

  constructor(world: World, disk: Disk, process: () => Process) {
    this.#world = world;
    this.#disk = disk;
    this.#process = process;
  }

  get functions() {
    return {
      // Folders are there, and links are not.
      existsSync: (name: string) => this.#disk.has(name),
      mkdirSync: () => {},
      realpathSync: (name: string) => name,
      readlinkSync: () => 'pid:[1]',
      readdirSync: (folder: string) => this.#disk.list(folder).map((name) => name.slice(folder.length + 1)),
      statSync: (name: string) => this.#stat(name),
      fstatSync: (descriptor: number) => ({ mtimeMs: this.#file(descriptor).changedAtMs }),
      readFileSync: (name: string) => this.#read(name),
      openSync: (name: string, flags: string) => this.#openFile(name, flags),
      closeSync: (descriptor: number) => this.#close(descriptor),
      writeFileSync: (descriptor: number, text: string) => this.#write(descriptor, text),
      fsyncSync: (descriptor: number) => this.#sync(descriptor),
      ftruncateSync: (descriptor: number) => this.#truncate(descriptor),
      renameSync: (from: string, to: string) =>
        this.#call(`rename ${to}`, 'name', () => this.#disk.rename(from, to)),
      rmSync: (name: string) => this.#call(`remove ${name}`, undefined, () => this.#disk.remove(name)),
    };
  }

  #read(name: string): string {
    const text = this.#disk.read(name);
    if (text === undefined) throw failure('ENOENT');
    return text;
  }

  #stat(name: string) {
    const mtimeMs = this.#disk.changedAtMs(name);
    if (mtimeMs === undefined && this.#disk.list(name).length === 0) throw failure('ENOENT');
    return { mtimeMs, isFile: () => mtimeMs !== undefined };
  }

  #openFile(name: string, flags: string): number {
    const isNew = !this.#disk.has(name);
    if (flags === 'wx' && !isNew) throw failure('EEXIST');
    if (flags === 'r+' && isNew) throw failure('ENOENT');
    if (flags !== 'r' && this.#disk.isFull && isNew) throw failure('ENOSPC');
    const file = flags === 'r' ? 'folder' : this.#disk.open(name);
    const descriptor = this.#next++;
    this.#open.set(descriptor, file);
    if (flags === 'wx' || flags === 'r+') this.#overwriting.add(descriptor);
    if (this.#open.size > openMax) this.#world.fail(`${this.#process().name} does not close its files`);
    return descriptor;
  }

  #close(descriptor: number): void {
    if (!this.#process().alive) throw new Killed();
    if (!this.#open.delete(descriptor)) throw failure('EBADF');
  }

  #write(descriptor: number, text: string): void {
    const isLock = this.#overwriting.has(descriptor);
    const write = (part: string): void => {
      const file = this.#file(descriptor);
      file.bytes.write(isLock ? 0 : file.bytes.contents.length, Buffer.from(part));
      file.changedAtMs = this.#world.nowMs;
    };
    const part = text.slice(0, this.#world.random.int(text.length + 1));
    if (this.#disk.isFull && text !== '') {
      this.#call(`write to the full disk ${part.length}/${text.length}`, 'write', () => {});
      write(part);
      throw failure('ENOSPC');
    }
    this.#call(
      `write ${descriptor} ${text.length}`,
      'write',
      () => write(text),
      // A short text at the start of a file is written as a whole.
      () => write(isLock ? '' : part),
    );
  }

  #sync(descriptor: number): void {
    const file = this.#open.get(descriptor);
    if (file === undefined) throw failure('EBADF');
    if (file === 'folder') this.#call('sync names', 'folder', () => this.#disk.syncNames());
    else
      this.#call(
        `sync ${descriptor}`,
        'sync',
        () => file.bytes.sync(),
        () => file.bytes.failSync(),
      );
  }

  #truncate(descriptor: number): void {
    this.#call(`truncate ${descriptor}`, 'write', () => this.#file(descriptor).bytes.truncate(0));
  }

  #file(descriptor: number): File {
    const file = this.#open.get(descriptor);
    if (file === undefined || file === 'folder') throw failure('EBADF');
    return file;
  }

  /** Does the work; or fails, after a part of it; or ends the process before, within or after it. */
  #call(
    name: string,
    kind: Exclude<keyof DiskFaults, 'kill' | 'slownessMs'> | undefined,
    work: () => void,
    part = () => {},
  ): void {
    const process = this.#process();
    if (!process.alive) throw new Killed();
    const { faults } = this.#disk;
    const text = `${process.name} ${name}`;
    process.block(this.#world.uptoMs(faults.slownessMs));
    // Removing the lock of a failed start is not interrupted as well.
    if (kind !== undefined && this.#world.chance(faults.kill)) {
      this.#world.note(`${text}: killed`);
      this.#world.random.pick([() => {}, part, work])();
      process.end();
      throw new Killed();
    }
    if (kind !== undefined && this.#world.chance(faults[kind])) {
      this.#world.note(`${text}: fails`);
      part();
      throw failure('EIO');
    }
    this.#world.note(text);
    work();
  }
}

function failure(code: string): Error {
  return Object.assign(new Error(`${code}: a simulated failure`), { code });
}
