/** What keeps queries from being recorded, or soon will, in sentences: for digests and for `caller-stats doctor`. */
import { formatQuantity, formatTime } from '../domain/format.js';
import { describeRefusal, losesQueries, type RefusalReason } from '../domain/ingestion/refusals.js';
import { bucketStart } from '../domain/ingestion/source-counts.js';
import type { ApiKey } from '../domain/keys/api-key.js';
import { expiryNotice } from '../domain/keys/key-lifetime.js';
import { refusalsShownMax } from '../domain/limits.js';
import type { Project } from '../domain/projects/project.js';
import { dayMs } from '../domain/time/duration.js';
import type { IngestionReads } from '../storage/ports/ingestion.js';
import type { IngestionSource } from './ingestion.js';

export interface Loss {
  readonly message: string;
  readonly remedy: string;
}

/** The losses of a project in the last day, and those to come. `nextMs` is when somebody asks the next time. */
export async function findLosses(
  { directory, ingestion }: IngestionSource,
  project: Pick<Project, 'id' | 'organizationId'>,
  nowMs: number,
  nextMs?: number,
): Promise<Loss[]> {
  const [keys, refused] = await Promise.all([
    directory.listExpiringKeys(expiryNotice(nowMs, nextMs), project),
    findRefusals(ingestion, project.id, nowMs),
  ]);
  return [...keys.map(describeExpiring), ...refused];
}

/** What a key records until it expires. */
export function describeExpiring({ id, name, expiresAt }: ApiKey): Loss {
  return {
    message: `The key "${name}" (${id}) is in use and expires at ${formatTime(expiresAt)}. What is sent with it then is lost.`,
    remedy: 'Rotate it, or create a recording key, which has no expiry.',
  };
}

/** What a project refused in the last day for these reasons. */
export async function findRefusals(
  ingestion: IngestionReads,
  projectId: string,
  nowMs: number,
  isOne: (reason: RefusalReason) => boolean = losesQueries,
): Promise<Loss[]> {
  const refusals = await ingestion.listRefusals(projectId);
  return refusals
    .filter(({ reason, bucket }) => bucket >= bucketStart(nowMs - dayMs) && isOne(reason))
    .slice(0, refusalsShownMax)
    .map(({ name, reason, keyId, requests, records }) => {
      const { message, remedy } = describeRefusal(reason);
      const what = [
        ...(requests > 0 ? [formatQuantity(requests, 'request')] : []),
        ...(records > 0 ? [formatQuantity(records, 'record')] : []),
      ].join(' and ');
      const from = keyId === null ? `"${name}"` : `"${name}" (key ${keyId})`;
      return { message: `${from} had ${what} refused in the last seven days. ${message}`, remedy };
    });
}
