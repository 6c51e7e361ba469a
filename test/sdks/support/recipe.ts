import { expect } from 'vitest';
import { samples } from '../../support/cli/samples.js';

/** The program of a page of the docs whose first line names this file. */
export function recipe(page: string, file: string): string {
  const found = samples().filter(
    (one) => one.page === page && /^(\/\/|#) (\S+)\n/.exec(one.code)?.[2] === file,
  );
  expect(found.map(({ name }) => name)).toHaveLength(1);
  return found[0]?.code ?? '';
}
