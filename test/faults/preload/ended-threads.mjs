/** Loaded into a server before its own code: SIGUSR2 terminates its newest thread. */
import { syncBuiltinESMExports } from 'node:module';
import workerThreads, { isMainThread } from 'node:worker_threads';

if (isMainThread) {
  const { Worker } = workerThreads;
  let newest;
  workerThreads.Worker = class extends Worker {
    constructor(...given) {
      super(...given);
      newest = this;
    }
  };
  syncBuiltinESMExports();
  process.on('SIGUSR2', () => {
    void newest?.terminate().then(() => process.stdout.write('the thread is ended\n'));
  });
}
