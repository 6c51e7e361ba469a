/** The cases that the clients of all languages and the server run. */
import { readFileSync } from 'node:fs';
import { join } from 'node:path';
import { root } from '../tidy/sources.js';

export function readVectors<Vectors>(name: string): Vectors {
  return JSON.parse(readFileSync(join(root, `clients/vectors/${name}.json`), 'utf8')) as Vectors;
}
