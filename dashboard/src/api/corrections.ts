/** The corrections of a project, newest first. */
import { infiniteQueryOptions } from '@tanstack/react-query';
import { generateId } from '../../../src/domain/random-text.js';
import { getQuery, request } from './client.js';
import { type ProjectRef, projectPath } from './paths.js';
import { queryClient } from './query-client.js';
import type { Correction, CorrectionPage } from './types.js';

/** While one is being carried out. */
const runningMs = 2_000;

/** Others rarely correct something while the overview is open. */
const newestStaleMs = 60_000;

export function correctionsQuery(ref: ProjectRef) {
  return infiniteQueryOptions({
    queryKey: ['corrections', correctionsPath(ref)],
    queryFn: ({ pageParam, signal }) =>
      request<CorrectionPage>('GET', `${correctionsPath(ref)}${pageParam}`, undefined, signal),
    initialPageParam: '',
    getNextPageParam: ({ next }) => (next === null ? undefined : `?before=${next}`),
    refetchInterval: ({ state: { data } }) =>
      data?.pages.some(({ corrections }) => corrections.some(({ state }) => state === 'running'))
        ? runningMs
        : false,
  });
}

/** The newest ones. */
export function newestCorrectionsQuery(ref: ProjectRef) {
  return { ...getQuery<CorrectionPage>(correctionsPath(ref)), staleTime: newestStaleMs };
}

/** What to correct, under the names of the API. */
export type CorrectionFields = Readonly<Partial<Record<string, string>>> &
  Pick<Correction, 'action' | 'reason'>;

/** A correction whose effect is known, which a repeat does not carry out again. */
export interface Measured {
  readonly fields: CorrectionFields & { readonly id: string };
  readonly effect: Correction;
}

/** What a correction would change. */
export async function measureCorrection(ref: ProjectRef, wanted: CorrectionFields): Promise<Measured> {
  const id = generateId((max) => (crypto.getRandomValues(new Uint32Array(1))[0] ?? 0) % max);
  const fields = { ...wanted, id };
  return {
    fields,
    effect: await request<Correction>('POST', correctionsPath(ref), { ...fields, dryRun: true }),
  };
}

/** All numbers on screen may change. */
export async function correct(ref: ProjectRef, { fields }: Measured): Promise<Correction> {
  const done = await request<Correction>('POST', correctionsPath(ref), fields);
  await queryClient.invalidateQueries();
  return done;
}

function correctionsPath({ organizationId, projectId }: ProjectRef): string {
  return `${projectPath(organizationId, projectId)}/corrections`;
}
