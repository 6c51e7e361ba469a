/** An assistant that writes a log, and a shipper that sends its lines at least once, as Fluent Bit does with a file of positions. */
import {
  appendFileSync,
  existsSync,
  openSync,
  readFileSync,
  readSync,
  renameSync,
  writeFileSync,
} from 'node:fs';
import { gzipSync } from 'node:zlib';
import { asked, run, write } from './ledger.mjs';

const { URL: url, PROJECT: project, KEY: key, LOG: log } = process.env;
const place = `${log}.position`;
appendFileSync(log, '');
const file = openSync(log);
let at = existsSync(place) ? Number(readFileSync(place, 'utf8')) : 0;

/** Whole lines from the position on. */
function next() {
  const bytes = Buffer.alloc(4096);
  const some = bytes.subarray(0, readSync(file, bytes, 0, bytes.length, at));
  return some.subarray(0, some.lastIndexOf('\n') + 1);
}

async function ship() {
  for (let lines = next(); lines.length > 0; lines = next()) {
    const answer = await fetch(`${url}/v1/analytics/${project}/assistant/queries`, {
      method: 'POST',
      headers: {
        authorization: `Bearer ${key}`,
        'content-type': 'application/x-ndjson',
        'content-encoding': 'gzip',
      },
      body: gzipSync(lines),
      signal: AbortSignal.timeout(10_000),
    });
    const text = await answer.text();
    if (answer.status >= 400 && answer.status < 500 && answer.status !== 429) {
      const ids = lines
        .toString()
        .trim()
        .split('\n')
        .map((line) => JSON.parse(line).id);
      write('lost', ids, `${answer.status}: ${text}`);
    } else if (answer.status !== 200) return;
    at += lines.length;
    writeFileSync(`${place}.new`, String(at));
    renameSync(`${place}.new`, place);
  }
}

let shipping;
const shipSome = () => {
  shipping ??= ship()
    .catch(() => {})
    .finally(() => {
      shipping = undefined;
    });
  return shipping;
};

run(() => {
  const ids = asked();
  const occurredAt = new Date().toISOString();
  appendFileSync(
    log,
    ids.map((id) => `${JSON.stringify({ id, caller: 'docs-bot', occurredAt })}\n`).join(''),
  );
  write('kept', ids);
  shipSome();
}, shipSome);
