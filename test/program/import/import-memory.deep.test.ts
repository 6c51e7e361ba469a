/** An import needs little memory, however large its file and whatever is around its records. */
import { spawn } from 'node:child_process';
import { once } from 'node:events';
import { Readable } from 'node:stream';
import { text } from 'node:stream/consumers';
import { pipeline } from 'node:stream/promises';
import { expect, test } from 'vitest';
import { programFile } from '../../support/cli/cli.js';
import { placeWithProject, project } from '../../support/cli/cli-place.js';

const records = 150_000;
const answer = 'Press "Save", then {wait}. '.repeat(50);

/** More than 200 MB of indented JSON, with a string of 60 MB and a large array that are not records. */
function* largeFile(): Generator<string> {
  yield '{\n  "comment": "';
  for (let left = 60; left > 0; left--) yield 'x'.repeat(1_000_000);
  yield '",\n  "pages": [0';
  for (let left = 100; left > 0; left--) yield ',{"conversations": [1]}'.repeat(1000);
  yield '],\n  "conversations": [\n';
  for (let at = 0; at < records; at++) {
    const conversation = { id: `c-${at % 1000}`, timestamp: '2026-06-15T12:00:00Z', response: answer };
    yield `${at === 0 ? '' : ',\n'}${JSON.stringify(conversation, null, 2)}`;
  }
  yield '\n]}';
}

test('200 MB of JSON are imported with a heap of 40 MB', { timeout: 300_000 }, async () => {
  const place = await placeWithProject();
  const args = ['import', '-', '--project', project, '--format', 'conversations', '--caller', 'web'];
  const child = spawn(process.execPath, ['--max-old-space-size=40', programFile, ...args], {
    cwd: place.folder,
    env: { PATH: process.env['PATH'], ...place.env },
  });
  const output = Promise.all([text(child.stdout), text(child.stderr), once(child, 'close')]);
  await pipeline(Readable.from(largeFile(), { objectMode: true }), child.stdin);
  const [stdout, stderr, [status]] = await output;
  expect({ stdout, stderr, status }).toEqual({
    stdout: '150,000 read, 1,000 recorded, 149,000 duplicates\n',
    stderr: '',
    status: 0,
  });
});
