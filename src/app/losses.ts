/** What keeps queries from being recorded, or soon will, in sentences: for digests and for `caller-stats doctor`. */
import { formatQuantity, formatTime } from '../domain/format.js';
import { describeRefusal, losesQueries } from '../domain/ingestion/refusals.js';
import { bucketStart } from '../domain/ingestion/source-counts.js';
import { expiryNotice } from '../domain/keys/key-lifetime.js';
import { refusalsShownMax } from '../domain/limits.js';
import type { Project } from '../domain/projects/project.js';
import { dayMs } from '../domain/time/duration.js';
import type { IngestionSource } from './ingestion.js';

export interface Loss {
  readonly message: string;
  readonly remedy: string;
}

/** The losses of the last day, and those to come. */
export async function findLosses(
  { directory, ingestion }: IngestionSource,
  { id: projectId, organizationId }: Pick<Project, 'id' | 'organizationId'>,
  nowMs: number,
): Promise<Loss[]> {
  const [keys, refusals] = await Promise.all([
    directory.listExpiringKeys(expiryNotice(nowMs), organizationId),
    ingestion.listRefusals(projectId),
  ]);
  const expiring = keys
    .filter((key) => key.projectId === null || key.projectId === projectId)
    .map(({ id, name, expiresAt }) => ({
      message: `The key "${name}" (${id}) is in use and expires at ${formatTime(expiresAt)}. What is sent with it then is lost.`,
      remedy: 'Rotate it, or create a recording key, which has no expiry.',
    }));
  const refused = refusals
    .filter(({ reason, bucket }) => bucket >= bucketStart(nowMs - dayMs) && losesQueries(reason))
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
  return [...expiring, ...refused];
}
