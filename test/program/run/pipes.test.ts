/** A pipe in place of a file: the reader would wait for ever. Only what is read once, such as an import, may be one. */
import { execFileSync } from 'node:child_process';
import { statSync } from 'node:fs';
import { expect, test } from 'vitest';
import { type Place, placeWithProject } from '../../support/cli/cli-place.js';

const REFUSED: readonly (readonly [what: string, args: (pipe: string, place: Place) => readonly string[]])[] =
  [
    ['settings', (pipe) => ['doctor', '--settings', pipe]],
    ['the database to check', (pipe) => ['doctor', '--database', `sqlite:${pipe}`]],
    ['the database to serve', (pipe) => ['serve', '--database', `sqlite:${pipe}`, '--port', '0']],
    ['the database to migrate', (pipe) => ['migrate', '--database', `sqlite:${pipe}`]],
    ['the database to compact', (pipe) => ['compact', '--database', `sqlite:${pipe}`]],
    ['a backup', (pipe) => ['backup', pipe, '--replace']],
    [
      'what is restored',
      (pipe, place) => ['restore', pipe, '--database', `sqlite:${place.path('restored.db')}`],
    ],
    [
      'what is replaced',
      (pipe, place) => ['restore', place.database, '--database', `sqlite:${pipe}`, '--replace'],
    ],
    ['secrets to check', (pipe) => ['doctor', '--secret-file', pipe]],
    ['secrets', (pipe) => ['serve', '--secret-file', pipe, '--port', '0']],
    ['breached passwords', (pipe) => ['serve', '--breached-passwords', pipe, '--port', '0']],
    [
      'the first keys',
      (pipe, place) => [
        ...['serve', '--database', `sqlite:${place.path('new.db')}`],
        ...['--first-run-file', pipe, '--port', '0'],
      ],
    ],
    [
      'a certificate',
      (pipe) => [
        ...['doctor', '--port', '0', '--database'],
        `postgres://x@localhost/x?sslmode=verify-full&sslrootcert=${pipe}`,
      ],
    ],
  ];

test.each(REFUSED)('a pipe for %s is refused, and stays', async (_what, args) => {
  const place = await placeWithProject();
  const pipe = place.path('pipe');
  execFileSync('mkfifo', [pipe]);
  // In a process of its own: reading a pipe would stop this one.
  const { status, stdout, stderr } = await place.spawn(args(pipe, place));
  expect({ status, told: stdout + stderr }).toMatchObject({
    status: expect.toSatisfy((one) => one === 1 || one === 2),
    told: expect.stringMatching(/pipe( is| \(it is) not a file/),
  });
  expect(statSync(pipe).isFIFO()).toBe(true);
});
