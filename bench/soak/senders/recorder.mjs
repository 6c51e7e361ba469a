/** The client for JavaScript. */
import { createRecorder } from 'caller-stats-client';
import { openSpool } from 'caller-stats-client/spool';
import { asked, run, write } from './ledger.mjs';

const { URL: url, PROJECT: projectId, KEY: key, SPOOL } = process.env;
const recorder = createRecorder({
  url,
  projectId,
  key,
  onDrop: (queries, { code, message }) => {
    // The next process has it.
    if (code !== 'spooled')
      write(
        'lost',
        queries.map(({ id }) => id),
        `${code}: ${message}`,
      );
  },
  onError: () => {},
  ...(SPOOL && { spool: openSpool(SPOOL) }),
});

run(
  () => {
    const ids = asked();
    for (const id of ids) recorder.record({ id, caller: 'web' });
    write('kept', ids);
  },
  () => recorder.close(),
);
