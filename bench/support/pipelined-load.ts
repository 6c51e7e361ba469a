/**
 * Requests the same paths in turn with pipelining and only counts the answers: this load generator costs a fraction of
 * an answer and leaves the cores to the servers. Reads its task from stdin and prints the result as JSON; fails unless
 * every status is 200.
 */
import { connect } from 'node:net';
import { json } from 'node:stream/consumers';

const ahead = 8;

/** The task. */
export interface PipelinedLoad {
  readonly url: string;
  readonly key: string;
  readonly connections: number;
  readonly seconds: number;
  readonly paths: readonly string[];
}

const { url, key, connections, seconds, paths } = (await json(process.stdin)) as PipelinedLoad;
const { hostname, port, host } = new URL(url);
const requests = paths.map(
  (path) => `GET ${path} HTTP/1.1\r\nHost: ${host}\r\nAuthorization: Bearer ${key}\r\n\r\n`,
);
const answer = Buffer.from('HTTP/1.1 ');
const good = Buffer.from('HTTP/1.1 200');

/** Counts answers in a stream of chunks. Bodies are numbers and never contain the start of an answer. */
class Answers {
  seen = 0;
  #rest = Buffer.alloc(0);

  read(chunk: Buffer): void {
    const data = Buffer.concat([this.#rest, chunk]);
    let from = 0;
    for (;;) {
      const at = data.indexOf(answer, from);
      if (at === -1 || at + good.length > data.length) break;
      from = at + good.length;
      if (!data.subarray(at, from).equals(good)) throw new Error(data.subarray(at, at + 500).toString());
      this.seen++;
    }
    // A chunk may end within the start of an answer.
    this.#rest = data.subarray(Math.max(from, data.length - good.length));
  }
}

const beginMs = performance.now();
const endMs = beginMs + seconds * 1000;
const answered = await Promise.all(Array.from({ length: connections }, (_, at) => ask(at)));
process.stdout.write(
  JSON.stringify({
    answered: answered.reduce((sum, one) => sum + one),
    seconds: (performance.now() - beginMs) / 1000,
    cpuSeconds: (process.cpuUsage().user + process.cpuUsage().system) / 1e6,
  }),
);

/** Runs one connection until the time is over and returns the number of answers. */
function ask(first: number): Promise<number> {
  return new Promise((resolve, reject) => {
    const socket = connect(Number(port), hostname);
    const answers = new Answers();
    let next = first;
    let asked = 0;
    const send = (): void => {
      let text = '';
      for (let more = 0; more < ahead; more++) text += requests[next++ % requests.length];
      asked += ahead;
      socket.write(text);
    };
    socket.once('connect', send).once('error', reject);
    socket.on('data', (chunk) => {
      try {
        answers.read(chunk);
      } catch (error) {
        socket.destroy(error as Error);
        return;
      }
      if (answers.seen < asked) return;
      if (performance.now() < endMs) {
        send();
        return;
      }
      socket.destroy();
      resolve(answers.seen);
    });
  });
}
