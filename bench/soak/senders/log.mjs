/** An assistant that writes a log, which others ship. */
import { appendFileSync } from 'node:fs';
import { asked, run, write } from './ledger.mjs';

run(
  () => {
    const ids = asked();
    const lines = ids.map((id) =>
      JSON.stringify({ 'caller_stats.id': id, 'caller_stats.caller': 'docs-bot' }),
    );
    appendFileSync(process.env.LOG, lines.map((line) => `${line}\n`).join(''));
    write('kept', ids);
  },
  () => {},
);
