/** A server is killed while it corrects what was recorded: another one finishes that, and undoing it all restores every count. */
import { type Form, type ProjectId, queriesOf, stretchOf } from '../blocks.js';
import { type Fault, killWithin, type Round, underLoad } from '../fault.js';
import { ask } from '../requests.js';
import type { World } from '../world.js';

const project: ProjectId = 'first';
const blocksMax = 30;
const blocksAtOnce = 5;
const someAnswers = 10;
/** Longer than the corrections take. */
const withinMs = 600;

/** A correction of some blocks, which get a form. */
interface Made {
  readonly id: string;
  readonly blocks: readonly number[];
  readonly form: Form;
  readonly request: Readonly<Record<string, unknown>>;
}

export const killCorrection: Fault = {
  name: 'kill-correction',
  stores: ['sqlite', 'postgres'],
  run: async (round) => {
    const { world, draw } = round;
    const made = await recordBlocks(round);
    const undone = draw.shuffled(made).map(({ id, blocks }): Made => {
      return { id: `undo ${id}`, blocks, form: 'recorded', request: { action: 'undo', correction: id } };
    });
    await underLoad(round, async (load) => {
      await killWhile(round, () => correctAll(world, made));
      await load.progress(someAnswers);
      await killWhile(round, () => correctAll(world, undone));
    });
  },
};

/** Records blocks that no load sends. Returns corrections of them. */
async function recordBlocks({ world, draw, blocks }: Round): Promise<readonly Made[]> {
  const all = blocks(blocksMax);
  const made: Made[] = [];
  const node = world.nodes[0] ?? (await world.join());
  for (let at = 0; at < all.length; at += blocksAtOnce) {
    const some = all.slice(at, at + blocksAtOnce);
    await world.deliver(node, { project, blocks: some, form: 'json', altered: false, twice: false });
    const action = draw.pick([{ action: 'withdraw' }, { action: 'rename', to: 'bot' }]);
    const form = action.to === undefined ? 'withdrawn' : { to: action.to };
    const [first = 0] = some;
    // Some by a filter, which selects one block.
    const isFilter = draw.oneIn(3);
    const { from, to } = stretchOf(first);
    const selection = isFilter
      ? { dateFrom: new Date(from).toISOString(), dateTo: new Date(to).toISOString() }
      : { ids: some.flatMap((block) => queriesOf(project, block).map(({ id }) => id)) };
    made.push({
      id: `correction of ${first}`,
      blocks: isFilter ? [first] : some,
      form,
      request: { ...action, ...selection },
    });
  }
  return made;
}

/** Kills the server, most likely while it corrects, and starts another one. */
async function killWhile(round: Round, correct: () => Promise<void>): Promise<void> {
  const { world, tally } = round;
  let isDone = false;
  const kill = async () => {
    const node = await world.node(0);
    await Promise.all([killWithin(round, node.pid, withinMs), node.ended.finally(() => world.leave(node))]);
    tally.note(isDone ? 'killed after all corrections' : 'killed during corrections');
    await world.join();
  };
  const done = correct().then(() => {
    isDone = true;
  });
  await Promise.all([done, kill()]);
}

async function correctAll(world: World, all: readonly Made[]): Promise<void> {
  for (const made of all) await correctUntilDone(world, made);
}

/** Repeats the request, which changes nothing if it arrived, until it is known that the correction is done. */
async function correctUntilDone(world: World, { id, blocks, form, request }: Made): Promise<void> {
  world.take({ kind: 'correct', project, blocks, form });
  const body = JSON.stringify({ id, reason: 'a fault', ...request });
  const headers = {
    authorization: `Bearer ${world.keys.steady(0).value}`,
    'content-type': 'application/json',
  };
  for (let turn = 0; ; turn++) {
    const { url } = await world.node(turn);
    const path = `${url}/v1/analytics/${project}/assistant/corrections`;
    const answer = await ask<{ state: string }>(path, { method: 'POST', headers, body });
    if (answer.body?.state === 'done') break;
    if (![200, 202, 503, 'lost'].includes(answer.status))
      throw new Error(`a correction is answered with ${answer.status}`);
  }
  world.take({ kind: 'corrected', project, blocks, form });
}
