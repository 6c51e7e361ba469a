/** From a seed and a number to a request: always the same, but for the keys. */
import { broken } from './broken.js';
import { elsewhere } from './elsewhere.js';
import { mutate } from './mutations.js';
import type { Operation } from './operations.js';
import { bytesOf, type FuzzRequest, type Parts } from './parts.js';
import { Random } from './random.js';
import { type Project, validRequest } from './valid.js';
import type { World } from './world.js';

/** The request of this number. */
export function requestOf(world: World, seed: number, number: number): FuzzRequest {
  const random = new Random(seed, number);
  const kind = random.weighted({ valid: 35, mutated: 57, elsewhere: 6, broken: 2 });
  const operation = random.pick(world.operations);
  const parts =
    kind === 'elsewhere'
      ? elsewhere(random)
      : validRequest(operation, projectFor(kind, operation), world, random);
  if (kind === 'mutated') {
    parts.effect = countedEffect(parts);
    for (let left = 1 + random.int(random.oneIn(3) ? 4 : 1); left > 0; left--) mutate(parts, random, world);
  }
  if (kind === 'elsewhere' && random.oneIn(2)) mutate(parts, random, world);
  const { method, target, mustSucceed, mustNotEnter, effect, alone } = parts;
  if (kind !== 'broken')
    return {
      number,
      method,
      target,
      mustSucceed,
      mustNotEnter,
      effect,
      alone,
      bytes: bytesOf(parts),
      cut: false,
      mustBeRefused: false,
    };
  return {
    number,
    method,
    target,
    mustSucceed: false,
    mustNotEnter: false,
    effect: { kind: 'none' },
    alone: true,
    ...broken(parts, random),
  };
}

function projectFor(kind: 'valid' | 'mutated' | 'broken', { template }: Operation): Project {
  if (kind === 'broken') return 'uncounted';
  const isOtlp = /^\/v1\/(traces|logs|metrics)$/.test(template);
  if (kind === 'valid') return isOtlp ? 'traces' : 'events';
  // An answer to OTLP does not say how many queries it recorded.
  return isOtlp ? 'uncounted' : 'counted';
}

function countedEffect({ effect }: Parts): Parts['effect'] {
  return effect.kind === 'events' ? { kind: 'counted' } : { kind: 'none' };
}
