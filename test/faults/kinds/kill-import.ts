/** Imports are killed, with or without a server; the last one completes the data. */
import { writeFile } from 'node:fs/promises';
import { queriesOf, sizeOf } from '../blocks.js';
import { type Fault, killWithin, type Round, serverOf } from '../fault.js';

const blocksOfFile = 40;
const killsMost = 2;

/** Until somewhere in the file. */
const withinMs = 1_500;

export const killImport: Fault = {
  name: 'kill-import',
  stores: ['sqlite', 'postgres'],
  run: async (round) => {
    const { world, draw, tally } = round;
    if (draw.oneIn(2)) await serverOf(world);
    const project = 'first';
    const blocks = round.blocks(blocksOfFile);
    const file = world.path('queries.ndjson');
    const lines = draw.shuffled(blocks).flatMap((block) => queriesOf(project, block));
    await writeFile(file, lines.map((query) => JSON.stringify(atTime(query))).join('\n'));
    const args = ['import', file, '--project', project, '--json'];
    // Any part of it may be recorded until it is acknowledged. The counters must match nevertheless.
    world.take({ kind: 'record', op: -1, project, blocks });
    for (let kills = 0; kills < 1 + draw.below(killsMost); kills++) {
      const running = world.startCommand(args);
      await killWithin(round, running.pid, withinMs);
      const { signal } = await running.ended;
      tally.note(signal === null ? 'import was done before it was killed' : 'import killed');
      await world.verify();
    }
    const { stdout } = await world.succeed(args);
    const { recorded, duplicates } = JSON.parse(stdout) as { recorded: number; duplicates: number };
    const sent = blocks.reduce((total, block) => total + sizeOf(block), 0);
    if (recorded + duplicates !== sent) world.problems.push(`import: of ${sent} queries, ${stdout}`);
    world.take({ kind: 'unknown', op: -1 });
    world.take({ kind: 'imported', project, blocks });
    world.acknowledged += sent;
    await checkWithServer(round);
  },
};

function atTime(query: {
  readonly id: string;
  readonly caller: string;
  readonly occurredAt: number;
}): object {
  return { ...query, occurredAt: new Date(query.occurredAt).toISOString() };
}

async function checkWithServer({ world, draw }: Round): Promise<void> {
  await serverOf(world);
  await world.check(draw);
}
