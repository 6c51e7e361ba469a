/** What every sender writes down before anything can end it: a line for each query that it was asked, kept or lost. */
import { appendFileSync } from 'node:fs';

const { NAME, LEDGER } = process.env;
let number = 0;

/** Queries that are asked at once. */
export function asked() {
  const ids = Array.from({ length: 1 + Math.trunc(Math.random() * 3) }, () => `${NAME}-${number++}`);
  write('asked', ids);
  return ids;
}

/** `word` is `kept`, if the application has done what it has to, or `lost`, with what it was told. */
export function write(word, ids, why = '') {
  appendFileSync(LEDGER, ids.map((id) => `${word} ${id} ${why.replaceAll('\n', ' ')}\n`).join(''));
}

/** Asks until SIGTERM, and then ends. */
export function run(ask, end) {
  const timer = setInterval(ask, 700);
  process.once('SIGTERM', async () => {
    clearInterval(timer);
    await end();
    process.exit(0);
  });
}
