/**
 * Records what a process does to the files of a folder, with `strace`, and reads the record: every write with its bytes,
 * every sync, and every change of a name, in order.
 */
import { createReadStream, existsSync } from 'node:fs';
import { createInterface } from 'node:readline';
import { fileURLToPath } from 'node:url';
import { startProcess } from '../../support/cli/process.js';

const strace = '/usr/bin/strace';

/** A call that changes files or makes changes durable. Offsets of writes without one are those of the descriptor. */
export type Call =
  | { readonly kind: 'open'; readonly path: string; readonly descriptor: number; readonly flags: string }
  | { readonly kind: 'write'; readonly descriptor: number; readonly data: Buffer; readonly offset?: number }
  | { readonly kind: 'copy'; readonly from: number; readonly to: number; readonly bytes: number }
  | { readonly kind: 'truncate'; readonly descriptor: number; readonly size: number }
  | { readonly kind: 'mkdir' | 'remove'; readonly path: string }
  | { readonly kind: 'rename' | 'link'; readonly from: string; readonly to: string }
  /** A sync covers what was written before it started. It is two entries, because other threads write meanwhile. */
  | { readonly kind: 'sync-start' | 'sync-end'; readonly descriptor: number; readonly sync: number }
  /** A line that the process wrote to its file of marks: what it knows at this moment. */
  | { readonly kind: 'mark'; readonly text: string };

const calls =
  'open,openat,creat,close,write,pwrite64,writev,pwritev,pwritev2,ftruncate,truncate,fallocate,fsync,fdatasync,sync_file_range,' +
  'copy_file_range,sendfile,rename,renameat,renameat2,link,linkat,unlink,unlinkat,rmdir,mkdir,mkdirat';

/** Runs a module with `strace`. It gets the folder and its file of marks as arguments, after `args`. */
export async function record(
  module: URL,
  { args, folder, marks, output }: { args: readonly string[]; folder: string; marks: string; output: string },
): Promise<void> {
  if (!existsSync(strace))
    throw new Error(`${strace} is missing: install the package strace, and run the test again.`);
  const traced = ['-f', '-xx', '-s', '100000000', '--seccomp-bpf', '-e', `trace=${calls}`, '-o', output];
  const node = [process.execPath, '--import', 'tsx', fileURLToPath(module), ...args, folder, marks];
  const { status, stderr } = await startProcess(strace, [...traced, ...node], {
    // Operations of io_uring are not system calls.
    env: { UV_USE_IO_URING: '0' },
    cwd: fileURLToPath(new URL('../../..', import.meta.url)),
    hangMs: 600_000,
  }).ended;
  if (status !== 0) throw new Error(`the recorded process failed: ${stderr.slice(-3000)}`);
}

/** Reads a record. Calls outside the folder are left out, failed ones too. */
export async function readTrace(file: string, folder: string, marks: string): Promise<Call[]> {
  const reader = new TraceReader(folder, marks);
  for await (const line of createInterface({ input: createReadStream(file) })) reader.take(line);
  return reader.calls;
}

interface Started {
  readonly text: string;
  readonly sync: number;
}

class TraceReader {
  readonly calls: Call[] = [];
  readonly #folder: string;
  readonly #marks: string;
  /** Calls that have started and not ended, by thread. */
  readonly #started = new Map<string, Started>();
  /** The paths of open descriptors. */
  readonly #open = new Map<number, string>();
  #syncs = 0;

  constructor(folder: string, marks: string) {
    this.#folder = folder;
    this.#marks = marks;
  }

  take(line: string): void {
    const [, thread = '', text = ''] = /^(\d+) +(.*)$/.exec(line) ?? [];
    if (text.endsWith(' <unfinished ...>')) {
      const begun = text.slice(0, -' <unfinished ...>'.length);
      this.#started.set(thread, { text: begun, sync: this.#startSync(begun) });
      return;
    }
    const resumed = /^<\.\.\. \w+ resumed>(.*)$/.exec(text)?.[1];
    const started = this.#started.get(thread);
    if (resumed === undefined) this.#end({ text, sync: this.#startSync(text) });
    else if (started !== undefined) this.#end({ ...started, text: started.text + resumed });
  }

  /** Notes the start of a sync. Returns its number; 0 for other calls. */
  #startSync(text: string): number {
    const descriptor = Number(/^fd?(?:data)?sync\((\d+)/.exec(text)?.[1]);
    if (!this.#isOurs(descriptor)) return 0;
    this.calls.push({ kind: 'sync-start', descriptor, sync: ++this.#syncs });
    return this.#syncs;
  }

  #isOurs(descriptor: number): boolean {
    const path = this.#open.get(descriptor);
    return path !== undefined && path !== this.#marks;
  }

  #end({ text, sync }: Started): void {
    const [, name = '', list = '', result = ''] = /^(\w+)\((.*)\) += (-?\d+)/s.exec(text) ?? [];
    const returned = Number(result);
    if (name === '' || returned < 0) return;
    const call = this.#callOf(name, list, returned, sync);
    if (call !== undefined) this.calls.push(call);
  }

  #callOf(name: string, list: string, returned: number, sync: number): Call | undefined {
    if (/^(open|openat|creat)$/.test(name)) return this.#opened(list, returned);
    const first = Number(/^\d+/.exec(list)?.[0]);
    const numbers = (list.match(/-?\b\d+\b(?!\\)/g) ?? []).map(Number);
    switch (name) {
      case 'close':
        // A socket may get the same number.
        this.#open.delete(first);
        return undefined;
      case 'write':
      case 'pwrite64':
        return this.#written(first, list, returned, name === 'pwrite64' ? numbers.at(-1) : undefined);
      case 'fsync':
      case 'fdatasync':
        return sync === 0 ? undefined : { kind: 'sync-end', descriptor: first, sync };
      case 'ftruncate':
        return this.#isOurs(first)
          ? { kind: 'truncate', descriptor: first, size: numbers[1] ?? 0 }
          : undefined;
      case 'copy_file_range': {
        const to = Number(/^\d+, \S+, (\d+)/.exec(list)?.[1]);
        return this.#isOurs(to) && returned > 0
          ? { kind: 'copy', from: first, to, bytes: returned }
          : undefined;
      }
      default:
        return this.#named(name, list, first);
    }
  }

  #opened(list: string, descriptor: number): Call | undefined {
    const [path = ''] = texts(list);
    this.#open.delete(descriptor);
    if (path !== this.#marks && !this.#isInside(path)) return undefined;
    this.#open.set(descriptor, path);
    return path === this.#marks ? undefined : { kind: 'open', path, descriptor, flags: list };
  }

  #written(descriptor: number, list: string, bytes: number, offset: number | undefined): Call | undefined {
    const path = this.#open.get(descriptor);
    if (path === undefined) return undefined;
    const data = bytesOf(/"((?:\\x[0-9a-f]{2})*)"/.exec(list)?.[1] ?? '').subarray(0, bytes);
    if (path === this.#marks) return { kind: 'mark', text: data.toString() };
    return { kind: 'write', descriptor, data, ...(offset === undefined ? {} : { offset }) };
  }

  #named(name: string, list: string, descriptor: number): Call | undefined {
    const [from = '', to = ''] = texts(list);
    if (/^(writev|pwritev2?|fallocate|sendfile|sync_file_range|truncate)$/.test(name)) {
      // No file of ours is written so today. If that changes, the reader must learn it.
      if (this.#isOurs(descriptor) || this.#isInside(from)) throw new Error(`${name} is not understood`);
      return undefined;
    }
    if (!this.#isInside(from)) return undefined;
    if (name.startsWith('rename')) return { kind: 'rename', from, to };
    if (name.startsWith('link')) return { kind: 'link', from, to };
    return { kind: name.startsWith('mkdir') ? 'mkdir' : 'remove', path: from };
  }

  #isInside(path: string): boolean {
    return path.startsWith(`${this.#folder}/`) || path === this.#folder;
  }
}

/** The texts among the arguments of a call. */
function texts(list: string): string[] {
  return [...list.matchAll(/"((?:\\x[0-9a-f]{2})*)"/g)].map(([, hex = '']) => bytesOf(hex).toString());
}

function bytesOf(escaped: string): Buffer {
  return Buffer.from(escaped.replaceAll('\\x', ''), 'hex');
}
