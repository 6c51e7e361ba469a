/** `caller-stats correct`: withdraws or renames recorded queries, undoes that, and lists what was corrected. */
import { Argument, type Command } from 'commander';
import {
  type CorrectionPage,
  correct,
  finishAll,
  listCorrections,
  measureCorrection,
  type ShownCorrection,
  showCorrection,
  showMeasured,
} from '../../app/corrections.js';
import { openSource } from '../../app/import/file/source.js';
import {
  CORRECTION_ACTIONS,
  type CorrectionNames,
  type CorrectionRequest,
  parseCorrection,
  splitRequest,
} from '../../domain/corrections/correction.js';
import { formatCount, formatQuantity } from '../../domain/format.js';
import { generateId } from '../../domain/random-text.js';
import type { Io } from '../io.js';
import { addSourceOptions, requireListed, type SourceOptions } from '../options/count-source.js';
import { ServerClient } from '../server-client.js';
import { addAction, readStoreSettings, requireValue, runOnStore } from '../store-command.js';
import { formatTable } from '../terminal/output.js';

/** The options, as names in messages. */
const NAMES: CorrectionNames = {
  id: '--id',
  reason: '--reason',
  ids: '--ids',
  caller: '--caller',
  dateFrom: '--from',
  dateTo: '--to',
  recordedFrom: '--recorded-since',
  recordedTo: '--recorded-to',
  recordedBy: '--recorded-by',
  source: '--source',
  to: '--new-caller',
  correction: '--correction',
};

interface CorrectOptions extends SourceOptions {
  readonly id?: string;
  readonly reason?: string;
  readonly ids?: string;
  readonly caller?: string;
  readonly from?: string;
  readonly to?: string;
  readonly recordedSince?: string;
  readonly recordedTo?: string;
  readonly recordedBy?: string;
  readonly source?: string;
  readonly newCaller?: string;
  readonly correction?: string;
  readonly dryRun?: boolean;
}

export function addCorrectCommand(program: Command, io: Io): void {
  const command = program
    .command('correct')
    .description('withdraws or renames recorded queries, undoes that, and lists what was corrected')
    .argument('<project>', "the project's id")
    .addArgument(
      new Argument(
        '<action>',
        'withdraw: queries count nowhere any more; rename: they count for another caller; undo: takes back a correction; list',
      ).choices([...CORRECTION_ACTIONS, 'list']),
    )
    .option('--id <id>', 'id of the correction: a repeat with it changes nothing (default: a new one)')
    .option('--reason <text>', 'why, for those who wonder about the numbers later')
    .option('--ids <file>', 'the queries whose ids are in this file, one in each line; - for stdin')
    .option('--caller <caller>', 'only the queries of this caller')
    .option('--from <date>', 'only those that occurred at this time or later, in UTC unless it has an offset')
    .option('--to <date>', 'only those that occurred before this time')
    .option('--recorded-since <date>', 'only those that arrived on this UTC day or later')
    .option('--recorded-to <date>', 'only those that arrived before this UTC day')
    .option('--recorded-by <sender>', 'only those of this sender, such as key:ID or import:FILE')
    .option('--source <name>', 'the imported counts of this source, to withdraw')
    .option('--new-caller <caller>', 'the caller for which they count after a rename')
    .option('--correction <id>', 'id of the correction to undo')
    .option('--dry-run', 'only print what would change');
  addSourceOptions(command);
  addAction(
    command,
    io,
    'print the result as JSON',
    async (options: CorrectOptions, [project = '', action = '']) => {
      if (action === 'list') return printed(await list(project, options, io));
      const request = await readRequest(action, options, io);
      const done =
        options.url === undefined
          ? await correctInStore(project, request, options, io)
          : await correctOnServer(project, request, options, io);
      return { json: done, text: describe(done) };
    },
  );
}

/** Parsed here in any case, so that messages name the options. */
async function readRequest(action: string, options: CorrectOptions, io: Io) {
  const { id = generateId(io.randomInt), reason, caller, from, to, recordedSince, recordedTo } = options;
  const { recordedBy, source, newCaller, correction } = options;
  const fields = {
    ...{ id, action, reason, caller, source, correction, recordedBy, recordedTo },
    ids: options.ids === undefined ? undefined : await readIds(options.ids, io),
    ...{ dateFrom: from, dateTo: to, recordedFrom: recordedSince, to: newCaller },
  };
  return { fields, request: requireValue(parseCorrection(fields, NAMES), '') };
}

type Read = Awaited<ReturnType<typeof readRequest>>;

async function readIds(file: string, io: Io): Promise<string[]> {
  const source = await openSource(file, io.stdin);
  const parts: Uint8Array[] = [];
  for await (const part of source.read(() => {})) parts.push(part);
  const lines = Buffer.concat(parts).toString('utf8').split(/\r?\n/);
  return lines.filter((line) => line !== '');
}

function correctInStore(
  projectId: string,
  { request }: Read,
  options: CorrectOptions,
  io: Io,
): Promise<ShownCorrection> {
  return runOnStore(readStoreSettings(options, io), async (store) => {
    await requireListed(store, options.organization, projectId);
    const target = { store, clock: io.clock };
    if (options.dryRun)
      return showMeasured(splitRequest(request).summary, await measureCorrection(target, projectId, request));
    const by = { name: 'command line', address: null, at: io.clock.now() };
    await correct(target, projectId, request, by);
    // Also what takes long: no server may be running.
    await finishAll(target, projectId);
    const done = await store.corrections.findCorrection(projectId, request.id);
    if (done === undefined) throw new Error('Invariant violated: a correction that was accepted is there.');
    return showCorrection(done);
  });
}

async function correctOnServer(
  projectId: string,
  { fields }: Read,
  { url = '', dryRun = false }: CorrectOptions,
  io: Io,
): Promise<ShownCorrection> {
  return (await new ServerClient(url, io).post(projectId, 'corrections', {
    ...fields,
    dryRun,
  })) as ShownCorrection;
}

async function list(projectId: string, options: CorrectOptions, io: Io): Promise<readonly ShownCorrection[]> {
  const { url } = options;
  if (url !== undefined) {
    const client = new ServerClient(url, io);
    return listAll(
      async (before) => (await client.get(projectId, 'corrections', { before })) as CorrectionPage,
    );
  }
  return runOnStore(readStoreSettings(options, io), async (store) => {
    await requireListed(store, options.organization, projectId);
    return listAll((before) =>
      listCorrections(store, projectId, before === undefined ? undefined : Number(before)),
    );
  });
}

async function listAll(
  readPage: (before: string | undefined) => Promise<CorrectionPage>,
): Promise<readonly ShownCorrection[]> {
  const all: ShownCorrection[] = [];
  for (let before: string | null | undefined; before !== null; ) {
    const { corrections, next } = await readPage(before);
    all.push(...corrections);
    before = next;
  }
  return all;
}

function printed(corrections: readonly ShownCorrection[]) {
  const rows = corrections.map((one) => [
    ...[one.createdAt ?? '', one.id, one.action, formatCount(one.queries.total), stateOf(one)],
    ...[one.createdBy ?? '', one.reason],
  ]);
  return {
    json: corrections,
    text: formatTable(['AT', 'ID', 'ACTION', 'QUERIES', 'STATE', 'BY', 'REASON'], rows),
  };
}

function stateOf({ state, undoneBy }: ShownCorrection): string {
  return undoneBy === null ? state : `undone by ${undoneBy}`;
}

const VERBS: Readonly<Record<CorrectionRequest['action'], string>> = {
  withdraw: 'withdrew',
  rename: 'renamed',
  undo: 'took back',
};

const WOULD: Readonly<Record<CorrectionRequest['action'], string>> = {
  withdraw: 'would withdraw',
  rename: 'would rename',
  undo: 'would take back',
};

function describe(done: ShownCorrection): string[] {
  const { id, action, queries, callers, otherCallers, first, last, state } = done;
  const what = (state === 'dryRun' ? WOULD : VERBS)[action];
  const lines = [
    `${id} ${what} ${formatQuantity(queries.total, 'query', 'queries')}: ` +
      `web ${formatCount(queries.web)}, api ${formatCount(queries.api)}, other ${formatCount(queries.other)}`,
    ...callers.map(({ caller, count }) => `  ${caller} ${formatCount(count)}`),
  ];
  if (otherCallers > 0) lines.push(`  all others ${formatCount(otherCallers)}`);
  if (first !== null) lines.push(`  from ${first} to ${last}`);
  if (state === 'running') lines.push('It is not finished yet; the server goes on.');
  return lines;
}
