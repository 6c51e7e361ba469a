/** Makes the request of a seed and a number: always the same one, except for the keys. */
import { breakRequest } from './broken.js';
import { mutate } from './mutations.js';
import type { Operation } from './operations.js';
import { type FuzzRequest, PLAIN_PARTS, writeRequest } from './parts.js';
import { Random } from './random.js';
import { undocumentedRequest } from './undocumented.js';
import { type Project, validRequest } from './valid.js';
import type { World } from './world.js';

/** Makes the request of this number. */
export function makeRequest(world: World, seed: number, number: number): FuzzRequest {
  const random = new Random(seed, number);
  const kind = random.weighted({ valid: 35, mutated: 57, undocumented: 6, broken: 2 });
  const operation = random.pick(world.operations);
  const parts =
    kind === 'undocumented'
      ? undocumentedRequest(random)
      : validRequest(operation, projectFor(kind, operation), world, random);
  if (kind === 'broken')
    return {
      ...parts,
      ...PLAIN_PARTS,
      number,
      alone: true,
      ...breakRequest(parts, random),
    };
  if (kind === 'mutated') {
    parts.effect = parts.effect.kind === 'events' ? { kind: 'counted' } : { kind: 'none' };
    for (let left = 1 + random.int(random.oneIn(3) ? 4 : 1); left > 0; left--) mutate(parts, random, world);
  }
  if (kind === 'undocumented' && random.oneIn(2)) mutate(parts, random, world);
  return { ...parts, number, bytes: writeRequest(parts), cut: false, mustBeRefused: false };
}

function projectFor(kind: 'valid' | 'mutated' | 'broken', { template }: Operation): Project {
  if (kind === 'broken' || template.endsWith('/imported-counts')) return 'uncounted';
  const isOtlp = /^\/v1\/(traces|logs|metrics)$/.test(template);
  if (kind === 'valid') return isOtlp ? 'traces' : 'events';
  // A response to OTLP does not say how many queries it recorded.
  return isOtlp ? 'uncounted' : 'counted';
}
