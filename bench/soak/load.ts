/** The load of a soak test: all operations at a sustainable rate, and the expected counts. */
import { setTimeout as delay } from 'node:timers/promises';
import { dayMs } from '../../src/domain/time/duration.js';
import type { Access } from '../support/access.js';
import { CALLERS } from '../support/events.js';
import { projectId } from '../support/service.js';
import { Times } from './samples.js';

interface Query {
  readonly id: string;
  readonly caller: string;
  readonly occurredAt: string;
}

interface Answer {
  readonly status: number;
  readonly text: string;
}

const triesMax = 30;
const yearMs = 365 * dayMs;
const analytics = `/v1/analytics/${projectId}/assistant`;

export class Load {
  readonly reads = new Times();
  readonly records = new Times();
  /** Acknowledged queries. */
  readonly expected = { web: 0, api: 0, other: 0, total: 0 };
  /** The first few unexpected results. */
  readonly troubles: string[] = [];
  /** Requests by kind and status. */
  readonly answers = new Map<string, number>();
  readonly #access: Access;
  readonly #startMs = Date.now() - yearMs;
  #made = 0;
  #step = 0;
  #lastBatch: readonly Query[] = [];

  constructor(access: Access) {
    this.#access = access;
  }

  /** One of ten steps per second: some requests of each kind, in parallel. */
  async step(): Promise<void> {
    const step = this.#step++;
    const work = [this.#single(), this.#single(), this.#export(), this.#invalid(step)];
    if (step % 5 === 0) work.push(this.#batch(50), this.#read(`${analytics}/callers`), this.#dashboard());
    if (step % 10 === 3)
      work.push(this.#repeat(), this.#read(`${analytics}/caller-stats/series?interval=day`));
    if (step % 50 === 7) work.push(this.#keyLife());
    await Promise.all(work);
  }

  /** Whether the counts match the ledger. */
  async check(): Promise<void> {
    const { text } = await this.#ask('export', 'GET', `${analytics}/caller-stats`);
    const counts = JSON.parse(text) as Record<string, number>;
    for (const [type, count] of Object.entries(this.expected)) {
      if (counts[type] !== count)
        this.#trouble(`${type}: ${counts[type]} are counted, ${count} were acknowledged`);
    }
  }

  #query(): Query {
    const number = this.#made++;
    const occurredAt = new Date(this.#startMs + ((number * 7_919) % yearMs)).toISOString();
    return { id: `soak-${number}`, caller: CALLERS[number % CALLERS.length] ?? 'web', occurredAt };
  }

  async #single(): Promise<void> {
    const startedAt = performance.now();
    await this.#record([this.#query()]);
    this.records.add(performance.now() - startedAt);
  }

  async #batch(size: number): Promise<void> {
    const batch = Array.from({ length: size }, () => this.#query());
    await this.#record(batch);
    this.#lastBatch = batch;
  }

  async #repeat(): Promise<void> {
    const batch = this.#lastBatch;
    if (batch.length === 0) return;
    const { status, text } = await this.#post('repeat', batch);
    if (status === 200 && text !== `{"recorded":0,"duplicates":${batch.length}}`)
      this.#trouble(`a repeat: ${text}`);
  }

  /** Retries until acknowledged, which is safe because recording is idempotent. */
  async #record(queries: readonly Query[]): Promise<void> {
    for (let tries = 0; tries < triesMax; tries++) {
      const { status } = await this.#post('record', queries);
      if (status === 200) {
        for (const { caller } of queries) {
          this.expected[caller === 'web' || caller === 'api' ? caller : 'other']++;
          this.expected.total++;
        }
        return;
      }
      if (status !== 503) this.#trouble(`a recording was answered ${status}`);
      await delay(1000);
    }
    this.#trouble('a recording was never acknowledged');
  }

  #post(kind: string, queries: readonly Query[]): Promise<Answer> {
    return this.#ask(kind, 'POST', `${analytics}/queries`, { body: JSON.stringify(queries) });
  }

  async #export(): Promise<void> {
    const startedAt = performance.now();
    const from = new Date(this.#startMs + this.#step * 1_009).toISOString();
    await this.#read(`${analytics}/caller-stats?dateFrom=${from}`);
    this.reads.add(performance.now() - startedAt);
  }

  async #read(path: string): Promise<void> {
    const { status } = await this.#ask(path.replace(/\?.*|.*\//g, ''), 'GET', path);
    if (status !== 200) this.#trouble(`${path} was answered ${status}`);
  }

  async #dashboard(): Promise<void> {
    const { organization, cookie } = this.#access;
    const answer = await this.#ask('dashboard', 'GET', `/api/organizations/${organization}/projects`, {
      cookie,
    });
    if (answer.status !== 200) this.#trouble(`the dashboard answered ${answer.status}`);
  }

  /** Creates a key, uses it, revokes it, and checks that it no longer works. */
  async #keyLife(): Promise<void> {
    const { organization, cookie } = this.#access;
    const keys = `/api/organizations/${organization}/keys`;
    const body = JSON.stringify({ name: 'soak', type: 'admin', expires: '7d', scopes: ['read'], allow: [] });
    const made = await this.#ask('key made', 'POST', keys, { cookie, body });
    const { secret, key } = JSON.parse(made.text) as { secret?: string; key?: { id: string } };
    if (secret === undefined || key === undefined) return this.#trouble(`a key was not made: ${made.status}`);
    const works = await this.#ask('key used', 'GET', `${analytics}/caller-stats`, { key: secret });
    await this.#ask('key revoked', 'POST', `${keys}/${key.id}/revoke`, { cookie, body: '{}' });
    const over = await this.#ask('key used', 'GET', `${analytics}/caller-stats`, { key: secret });
    if (works.status !== 200 || over.status !== 401)
      this.#trouble(`a key was answered ${works.status}, revoked ${over.status}`);
  }

  async #invalid(step: number): Promise<void> {
    const invalid: readonly (() => Promise<Answer>)[] = [
      () => this.#ask('invalid', 'POST', `${analytics}/queries`, { body: '[{"id":"a"' }),
      () => this.#ask('invalid', 'POST', `${analytics}/queries`, { body: '[{"id":"bad","caller":"É"}]' }),
      () => this.#ask('invalid', 'GET', `${analytics}/caller-stats?dateFrom=2026-02-30`),
      () => this.#ask('invalid', 'GET', `/v1/analytics/nowhere-${step}/assistant/callers`),
      () => this.#ask('invalid', 'GET', `${analytics}/callers`, { key: `cs_admin_${step}` }),
      () => this.#ask('invalid', 'PUT', `${analytics}/queries`, { body: 'x' }),
    ];
    const answer = await invalid[step % invalid.length]?.();
    if (answer === undefined || answer.status < 400 || answer.status >= 500)
      this.#trouble(`an invalid request was answered ${answer?.status}`);
  }

  async #ask(
    kind: string,
    method: string,
    path: string,
    { key = this.#access.key, cookie, body }: { key?: string; cookie?: string; body?: string } = {},
  ): Promise<Answer> {
    const { url } = this.#access;
    const who = cookie === undefined ? { authorization: `Bearer ${key}` } : { cookie, origin: url };
    const type = body === undefined ? {} : { 'content-type': 'application/json' };
    try {
      const response = await fetch(url + path, {
        method,
        headers: { ...who, ...type },
        ...(body && { body }),
      });
      const text = await response.text();
      this.#count(`${kind} ${response.status}`);
      return { status: response.status, text };
    } catch {
      this.#count(`${kind} broken`);
      return { status: 503, text: '{}' };
    }
  }

  #count(what: string): void {
    this.answers.set(what, (this.answers.get(what) ?? 0) + 1);
  }

  #trouble(what: string): void {
    if (this.troubles.length < 20) this.troubles.push(what);
  }
}
