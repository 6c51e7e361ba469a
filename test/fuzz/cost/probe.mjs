/**
 * Loaded into a server before it starts: tells over a socket how much processor time its event loop took, and how much the
 * longest turn. Processor time of one thread hardly depends on what else the machine does.
 */
import { openSync, readSync } from 'node:fs';
import { createServer } from 'node:http';
import { isMainThread } from 'node:worker_threads';

const socket = process.env.CALLER_STATS_FUZZ_SOCKET;

/** Milliseconds of this thread; on systems that do not say it, of all threads. */
function clockOf(pid) {
  try {
    const file = openSync(`/proc/self/task/${pid}/schedstat`);
    const bytes = Buffer.alloc(100);
    const read = () =>
      Number(bytes.toString('latin1', 0, readSync(file, bytes, 0, 100, 0)).split(' ')[0]) / 1e6;
    read();
    return read;
  } catch {
    return () => {
      const { user, system } = process.cpuUsage();
      return (user + system) / 1000;
    };
  }
}

/** What machines are compared by: typical work, of some 50 ms on a small one. */
function load() {
  const items = Array.from({ length: 2000 }, (_, at) => ({
    id: `query ${at}`,
    caller: 'web',
    at: `${at * 7}`,
  }));
  let length = 0;
  for (let time = 0; time < 25; time++) {
    const read = JSON.parse(JSON.stringify(items));
    length += read.map(({ id, at }) => `${id.replace('query', '')}${Number(at)}`).join().length;
  }
  return length;
}

if (isMainThread && socket !== undefined) {
  const read = clockOf(process.pid);
  let [last, longest] = [read(), 0];
  const tick = () => {
    const now = read();
    longest = Math.max(longest, now - last);
    last = now;
  };
  setInterval(tick, 1).unref();
  const answer = (request, response) => {
    tick();
    const before = last;
    if (request.url === '/load') {
      load();
      tick();
    }
    response.end(JSON.stringify({ usedMs: last, longestMs: longest, loadMs: last - before }));
    longest = 0;
  };
  createServer(answer).listen(socket).unref();
}
