/** The main thread's end alone: what it makes of a thread that fails, ends, or answers as none of ours should. */
import { expect, test } from 'vitest';
import { CallerStatsError } from '../../../../src/domain/errors.js';
import { WriterHandle } from '../../../../src/storage/sqlite/writer/writer-handle.js';
import type { WriterStart } from '../../../../src/storage/sqlite/writer/writer-thread.js';
import { whenOver } from '../../../support/cleanup.js';

const READY = `parentPort.postMessage({ ok: true, result: null });`;

/** Starts a thread of this code, which is ended when the test is over. */
async function started(code: string, start: Partial<WriterStart> = {}): Promise<WriterHandle> {
  const script = `import { parentPort, resourceLimits } from 'node:worker_threads';\n${code}`;
  const thread = new URL(`data:text/javascript,${encodeURIComponent(script)}`);
  const handle = await WriterHandle.start({ file: 'none', ...start }, thread);
  whenOver(() => handle.close());
  return handle;
}

/** Starts a thread that does this with the first group, and with the word to stop. */
const startedWith = (code: string) => started(`parentPort.once('message', () => { ${code} }); ${READY}`);

const stopped = (cause: RegExp) => ({
  code: 'unavailable',
  message: expect.stringMatching(/its writer stopped/),
  cause: { message: expect.stringMatching(cause) },
});

test('throws if the thread fails at start', async () => {
  await expect(started(`throw new Error('no such disk');`)).rejects.toMatchObject(stopped(/^no such disk$/));
  await expect(started('process.exit(3);')).rejects.toMatchObject(stopped(/status 3$/));
  await expect(
    started(
      `parentPort.postMessage({ ok: false, code: 'unavailable', message: 'It is full.', cause: 'the disk' });`,
    ),
  ).rejects.toMatchObject({ code: 'unavailable', message: 'It is full.', cause: 'the disk' });
});

test('refuses commits with the error that ended the thread', async () => {
  const handle = await startedWith(`throw new Error('out of luck');`);
  expect(handle.alive).toBe(true);
  for (const _ of ['under way', 'after'])
    await expect(handle.commit([])).rejects.toMatchObject(stopped(/^out of luck$/));
  expect(handle.alive).toBe(false);
  await handle.close();
  await expect(handle.commit([])).rejects.toMatchObject(stopped(/^out of luck$/));
});

test('refuses commits after the thread ended without an error', async () => {
  const handle = await startedWith('process.exit(7);');
  await expect(handle.commit([])).rejects.toMatchObject(stopped(/status 7$/));
  expect(handle.alive).toBe(false);
  await handle.close();
});

test('throws the error of a failed group, and continues', async () => {
  const handle = await started(`
    const failures = [
      { ok: false, code: 'unavailable', message: 'It is full.', cause: 'the disk' },
      { ok: false, code: undefined, message: 'a bug', cause: 'its reason' },
    ];
    parentPort.on('message', (message) => {
      if (message === 'close') parentPort.close();
      else parentPort.postMessage(failures.shift() ?? { ok: true, result: [{ ok: true, value: 1 }] });
    });
    ${READY}`);
  const refusal = await handle.commit([]).catch((error: unknown) => error);
  expect(refusal).toBeInstanceOf(CallerStatsError);
  expect(refusal).toMatchObject({ code: 'unavailable', message: 'It is full.', cause: 'the disk' });
  const bug = await handle.commit([]).catch((error: unknown) => error);
  expect(bug).not.toBeInstanceOf(CallerStatsError);
  expect(bug).toMatchObject({ message: 'a bug', cause: 'its reason' });
  expect(await handle.commit([{ kind: 'tryCommit' }])).toEqual([{ ok: true, value: 1 }]);
  expect(handle.alive).toBe(true);
});

test('limits the young generation of the thread of an import only', async () => {
  const tellLimits = `
    parentPort.on('message', () => parentPort.close());
    parentPort.postMessage({ ok: true, result: String(resourceLimits.maxYoungGenerationSizeMb) });`;
  const usual = Number((await started(tellLimits)).kept);
  expect((await started(tellLimits, { forImport: true })).kept).toBe('12');
  expect((await started(tellLimits, { forImport: false })).kept).toBe(String(usual));
  expect(usual).toBeGreaterThan(12);
});
