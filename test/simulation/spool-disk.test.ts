/** What the spool keeps on a disk that fails: cases that the simulation found. */
import { beforeAll, expect, test } from 'vitest';
import type { QueuedQuery } from '../../clients/javascript/src/query.js';
import type { Spool } from '../../clients/javascript/src/recorder-options.js';
import { bundleProduct, type StartProduct } from './bundle.js';
import { Disk, type DiskFaults, noDiskFaults } from './world/disk.js';
import { Process } from './world/process.js';
import { World } from './world/world.js';

const path = 'spool';
const seeds = [...Array(40).keys()];
const query = (id: string): QueuedQuery => ({ id, caller: 'web', occurredAt: '2026-01-01T00:00:00.000Z' });

let startProduct: StartProduct;
beforeAll(async () => {
  startProduct = await bundleProduct();
});

/** A machine whose processes open the spool one after the other. */
class Machine {
  readonly world: World;
  readonly disk: Disk;
  #pid = 100;

  constructor(seed: number) {
    this.world = new World(seed, { traced: false });
    this.disk = new Disk(this.world, noDiskFaults);
  }

  open(): { spool: Spool; left: readonly QueuedQuery[] } {
    const kill = (pid: number): never => {
      throw Object.assign(new Error('kill'), { code: pid === 1 ? 'EPERM' : 'ESRCH' });
    };
    const process: Process = new Process({
      world: this.world,
      name: 'program',
      fetch: () => Promise.reject(new Error('nothing is sent')),
      modules: {
        'node:fs': this.disk.modulesFor(() => process),
        'node:process': { pid: ++this.#pid, platform: 'linux', kill },
      },
    });
    const spool = startProduct(process.globals).openSpool(path, { fsync: true });
    return { spool, left: spool.load('docs', () => {}) };
  }

  /** Runs `work` while the disk has these faults. */
  failing(faults: Partial<DiskFaults>, work: () => void): void {
    this.disk.faults = { ...noDiskFaults, ...faults };
    work();
    this.disk.faults = noDiskFaults;
  }

  /** The ids that are in the spool after a power failure. */
  idsAfterPowerFailure(): string[] {
    this.disk.losePower();
    // A machine takes a minute to start, after which no lock is respected.
    this.world.nowMs += 61_000;
    return this.open().left.map(({ id }) => id);
  }
}

test('a lock that does not fit on a full disk locks nobody out', () => {
  for (const seed of seeds) {
    const machine = new Machine(seed);
    // A process that was killed leaves its lock.
    machine.open().spool.append(query('first'));
    machine.disk.isFull = true;
    expect(() => machine.open()).toThrow('ENOSPC');
    machine.disk.isFull = false;
    expect(machine.open().left).toEqual([query('first')]);
  }
});

test('a failed fsync does not damage the next query', () => {
  // One of these lines ends with a page.
  for (let characters = 1; characters <= 64; characters++) {
    const machine = new Machine(1);
    const { spool } = machine.open();
    spool.append(query('first'));
    machine.failing({ sync: 1 }, () =>
      expect(() => spool.append(query('x'.repeat(characters)))).toThrow('EIO'),
    );
    spool.append(query('third'));
    expect(machine.idsAfterPowerFailure()).toEqual(expect.arrayContaining(['first', 'third']));
  }
});

test('a failed fsync of the folder is reported and repeated', () => {
  for (const seed of seeds) {
    const machine = new Machine(seed);
    machine.failing({ folder: 1 }, () => {
      const { spool } = machine.open();
      expect(() => spool.append(query('first'))).toThrow('EIO');
      machine.disk.faults = noDiskFaults;
      spool.append(query('second'));
    });
    expect(machine.idsAfterPowerFailure()).toEqual(['first', 'second']);
  }
});

test('a spool that cannot be rewritten keeps its queries and leaves no files open', () => {
  const machine = new Machine(1);
  const { spool } = machine.open();
  const queries = [...'abcdefgh'].map(query);
  for (const one of queries) spool.append(one);
  machine.failing({ folder: 1 }, () => {
    for (let times = 0; times < 3; times++) expect(() => spool.settle(queries.slice(-1))).toThrow('EIO');
  });
  spool.append(query('i'));
  // Too many open files are a problem of the simulated world.
  expect(machine.world.problems).toEqual([]);
  expect(machine.idsAfterPowerFailure()).toEqual([...'abcdefghi']);
});
