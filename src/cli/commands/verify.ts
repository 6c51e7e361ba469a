/** `caller-stats verify`: checks every counter against the recorded queries. */

import type { Command } from 'commander';
import { bucketWidthMs } from '../../domain/counting/buckets.js';
import { formatCount, formatQuantity } from '../../domain/format.js';
import { CALLER_TYPES } from '../../domain/queries/caller.js';
import type { CounterDifference, Verification } from '../../storage/ports/store.js';
import type { Io } from '../io.js';
import { addStoreAction } from '../store-command.js';

export function addVerifyCommand(program: Command, io: Io): void {
  const command = program
    .command('verify')
    .description(
      'recounts the recorded queries and imported counts; exits with status 1 if a counter differs',
    );
  addStoreAction(command, io, {
    json: 'print the result as JSON',
    hasOrganization: false,
    run: async ({ store }) => {
      const found = await store.maintenance.verify();
      const failed = found.differencesTotal > 0 || found.damage.length > 0 || found.wrongCopies !== undefined;
      return { json: toJson(found), text: describe(found), failed };
    },
  });
}

function describe({
  projects,
  queries,
  importedQueries,
  damage,
  differences,
  differencesTotal,
  wrongCopies = [],
}: Verification): string[] {
  if (damage.length > 0) {
    return [
      ...damage.map((line) => `damage: ${line}`),
      'The database is damaged, so nothing was recounted. Restore a backup.',
    ];
  }
  const more = differencesTotal - differences.length;
  const imported = importedQueries > 0 ? ` and ${formatCount(importedQueries)} in imported counts,` : '';
  const checked = `${formatQuantity(queries, 'query', 'queries')}${imported} in ${formatQuantity(projects, 'project')}`;
  const differing = `${formatQuantity(differencesTotal, 'counter')} ${differencesTotal === 1 ? 'differs' : 'differ'}`;
  return [
    ...wrongCopies.map(
      (id) =>
        `project ${id}: its copy on the coordinator is not right; caller-stats migrate --distribute makes all copies again`,
    ),
    ...differences.map(describeDifference),
    ...(more > 0 ? [`and ${formatCount(more)} more`] : []),
    `${checked}: ${differencesTotal === 0 ? 'every counter is what a recount gives' : `${differing} from a recount`}`,
  ];
}

function describeDifference(difference: CounterDifference): string {
  const { projectId, level, caller, counted, recounted } = difference;
  const changes = CALLER_TYPES.filter((type) => counted[type] !== recounted[type]).map((type) => {
    const change = counted[type] - recounted[type];
    const signed = change > 0 ? `+${change}` : String(change);
    return `${type} ${signed} (counter ${counted[type]}, recounted ${recounted[type]})`;
  });
  const bucket = `${bucketStart(difference)} (${formatCount(bucketWidthMs(level))} ms wide)`;
  const ofCaller = caller === undefined ? '' : `, caller ${caller}`;
  return `project ${projectId}, bucket ${bucket}${ofCaller}: ${changes.join(', ')}`;
}

function toJson({ differences, ...rest }: Verification) {
  return {
    ...rest,
    differences: differences.map((difference) => ({
      ...difference,
      bucketStart: bucketStart(difference),
      bucketWidthMs: bucketWidthMs(difference.level),
    })),
  };
}

function bucketStart({ level, bucket }: CounterDifference): string {
  const date = new Date(bucket * bucketWidthMs(level));
  return Number.isNaN(date.getTime()) ? `number ${bucket}` : date.toISOString();
}
