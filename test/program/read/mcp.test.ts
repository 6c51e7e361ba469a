/** `mcp` as a process that the official client talks to, on a database and on a running server. */
import { describe, expect, test } from 'vitest';
import type { CallerCounts } from '../../../src/domain/counting/counts.js';
import type { Series } from '../../../src/domain/counting/series.js';
import { toolRowsMax, toolTokensMax } from '../../../src/domain/limits.js';
import { countTokens } from '../../../src/mcp/answers.js';
import { programInShell, runCommand } from '../../support/cli/cli.js';
import {
  emptyPlace,
  makeKey,
  placeWithProject,
  placeWithSample,
  project,
  refusal,
  succeed,
} from '../../support/cli/cli-place.js';
import { rowsOf, withMcp } from '../../support/cli/mcp.js';
import { expected } from '../../support/sample.js';

const year = { dateFrom: '2024-01-01', dateTo: '2025-01-01' };

/** A line of stdin. */
const line = (message: object): string => `${JSON.stringify({ jsonrpc: '2.0', ...message })}\n`;

/** The first messages of a client. */
const opening =
  line({
    id: 1,
    method: 'initialize',
    params: {
      protocolVersion: '2025-06-18',
      capabilities: {},
      clientInfo: { name: 'test', version: '1' },
    },
  }) + line({ method: 'notifications/initialized' });

describe('mcp refuses', () => {
  test.concurrent.each<[args: string[], env: Record<string, string>, message: RegExp]>([
    [
      ['--url', 'http://127.0.0.1:1'],
      {},
      /--url: needs an API key in the environment variable CALLER_STATS_KEY/,
    ],
    [['--url', 'ftp://x'], { CALLER_STATS_KEY: 'x' }, /--url: "ftp:\/\/x" is not a URL such as/],
    [
      ['--url', 'http://x', '--database', 'sqlite:x'],
      {},
      /'--database <url>' cannot be used with option '--url/,
    ],
    [['--database', 'mysql://x'], {}, /--database: /],
    [['docs'], {}, /too many arguments/],
  ])('%j', async (args, env, message) => {
    const place = await emptyPlace();
    expect(await refusal(place.run(['mcp', ...args], { env }), 2)).toMatch(message);
  });

  test.concurrent('invalid calls, with messages for the model', async () => {
    const place = await placeWithProject();
    await withMcp(place, [], async ({ refusal, stderr }) => {
      expect(
        await refusal('get_caller_stats', { projectId: project, dateFrom: '2024-02-30', dateTo: 'x' }),
      ).toMatch(
        /^The call has invalid arguments\.\n {2}dateFrom: "2024-02-30" is not a date.*\n {2}dateTo: "x" is neither a date/,
      );
      expect(await refusal('get_callers', { projectId: project, datefrom: '2024-01-01' })).toBe(
        'The call has invalid arguments.\n  "datefrom": is not a parameter here; did you mean dateFrom?',
      );
      expect(await refusal('get_callers', { dateTo: 5 })).toBe(
        'The call has invalid arguments.\n  projectId: is missing\n  dateTo: is not a string; leave it out or give one',
      );
      expect(await refusal('get_caller_stats', { projectId: project, interval: 'day' })).toMatch(
        /"interval": is not a parameter here/,
      );
      expect(
        await refusal('get_caller_stats_series', {
          projectId: project,
          interval: 'decade',
          timeZone: 'Berlin',
        }),
      ).toMatch(/\n {2}timeZone: "Berlin" is not a time zone.*\n {2}interval: "decade" is not an interval; /);
      expect(await refusal('list_projects', { name: 'x' })).toMatch(/"name": is not a parameter here/);
      expect(await refusal('get_callers', { projectId: 'other' })).toBe(
        'There is no project other; see list_projects.',
      );
      expect(stderr()).toBe('');
    });
  });

  test.concurrent('more than 1,000 buckets, although the HTTP API allows more', async () => {
    const place = await placeWithProject();
    const hours = { projectId: project, interval: 'hour', dateFrom: '2024-01-01' };
    await withMcp(place, [], async ({ text, refusal }) => {
      expect(await refusal('get_caller_stats_series', { ...hours, dateTo: '2024-02-11T16:00:00.001Z' })).toBe(
        'The series has too many buckets.\n  interval: hour makes more than 1000 buckets of this range; ' +
          'choose a wider interval or a smaller range',
      );
      const most = { ...hours, dateTo: '2024-02-11T16:00Z', rows: 1000 };
      expect(rowsOf(await text('get_caller_stats_series', most))).toHaveLength(1000);
    });
  });

  test('an unknown tool', async () => {
    const place = await placeWithProject();
    await withMcp(place, [], async ({ client }) => {
      await expect(client.callTool({ name: 'delete_project', arguments: {} })).rejects.toThrow(/not found/);
    });
  });
});

/** The parameters that a tool must have, unless it is the project alone. */
const REQUIRED: Readonly<Record<string, readonly string[]>> = {
  list_projects: [],
  get_changes: ['projectId', 'since'],
};

describe('mcp', () => {
  test.concurrent('lists read-only tools with their input and output schemas', async () => {
    const place = await placeWithProject();
    await withMcp(place, [], async ({ client }) => {
      const { tools } = await client.listTools();
      expect(tools.map(({ name }) => name)).toEqual([
        'list_projects',
        'get_caller_stats',
        'get_caller_stats_series',
        'get_callers',
        'get_changes',
      ]);
      for (const { name, title, description, annotations, inputSchema, outputSchema } of tools) {
        expect(title, name).toBeTruthy();
        expect(description?.length, name).toBeGreaterThan(50);
        expect(annotations).toEqual({ readOnlyHint: true, idempotentHint: true, openWorldHint: false });
        expect(inputSchema).toMatchObject({ type: 'object', additionalProperties: false });
        expect(inputSchema['required'] ?? []).toEqual(REQUIRED[name] ?? ['projectId']);
        expect(Object.keys(outputSchema ?? {})).not.toContain('$id');
        for (const property of Object.values(inputSchema.properties ?? {}))
          expect(property).toHaveProperty('description');
      }
      // Long lists are text alone: clients would show both to the model.
      expect(tools.map(({ outputSchema }) => outputSchema?.['type'])).toEqual([
        ...['object', 'object'],
        ...[undefined, undefined, undefined],
      ]);
      expect(client.getInstructions()).toMatch(/dateTo is exclusive/);
    });
  });

  test.concurrent('returns the expected counts of the sample', async () => {
    const place = await placeWithSample();
    await withMcp(place, [], async ({ call }) => {
      for (const { query, counts } of expected.ranges) {
        expect(await call('get_caller_stats', { projectId: project, ...query })).toEqual(counts);
      }
    });
  });

  test.concurrent('says in words what an answer counts', async () => {
    const place = await placeWithProject();
    await withMcp(place, [], async ({ text }) => {
      const types =
        'web: Queries from the documentation site. api: Queries from direct API calls. ' +
        'other: Queries from other sources, such as integrations and SDKs.';
      const asked = { projectId: project };
      for (const tool of ['get_caller_stats', 'get_caller_stats_series', 'get_callers'])
        expect((await text(tool, asked)).split('\n')[0]).toBe(
          `Queries from the first query to the last query. Time zone: UTC. ${types}`,
        );
      const march = { dateFrom: '2026-03-01', dateTo: '2026-04-01', timeZone: 'Europe/Berlin' };
      expect(
        await text('get_caller_stats', { ...asked, ...march, caller: 'slack', compare: 'previous-year' }),
      ).toBe(
        'Queries from 2026-03-01T00:00:00.000+01:00 up to, but not including, 2026-04-01T00:00:00.000+02:00. ' +
          'Time zone: Europe/Berlin. Only those of the caller slack. previous: those from 2025-03-01T00:00:00.000+01:00 ' +
          `up to, but not including, 2025-04-01T00:00:00.000+02:00. ${types}\n` +
          'web,api,other,total,previous.web,previous.api,previous.other,previous.total,previous.dateFrom,previous.dateTo\n' +
          '0,0,0,0,0,0,0,0,2025-03-01T00:00:00.000+01:00,2025-04-01T00:00:00.000+02:00',
      );
    });
  });

  test.concurrent('returns the same projects, series and callers as stats', async () => {
    const place = await placeWithSample();
    await succeed(place.run(['project', 'change', project, '--time-zone', 'Europe/Berlin']));
    const range = ['--from', year.dateFrom, '--to', year.dateTo, '--json'];
    const statsOf = async <T>(...args: string[]): Promise<T> =>
      JSON.parse((await succeed(place.run(['stats', project, ...args, ...range]))).stdout) as T;
    const weeks = ['--interval', 'week', '--time-zone', 'America/Havana'];
    const { buckets } = await statsOf<Series>(...weeks);
    const { callers } = await statsOf<CallerCounts>('--callers');
    await withMcp(place, [], async ({ client, call, text }) => {
      // After this, the client validates each response against its schema.
      await client.listTools();
      const asked = { projectId: project, ...year };
      expect(await call('list_projects', {})).toEqual({
        projects: [{ id: project, name: 'Docs', timeZone: 'Europe/Berlin', weekStart: null }],
      });
      expect(rowsOf(await text('list_projects', {}))).toEqual([
        { id: project, name: 'Docs', timeZone: 'Europe/Berlin', weekStart: '' },
      ]);
      const series = await text('get_caller_stats_series', {
        ...asked,
        ...{ interval: 'week', timeZone: 'America/Havana' },
      });
      expect(rowsOf(series).map(({ total }) => Number(total))).toEqual(buckets.map(({ total }) => total));
      expect(rowsOf(await text('get_callers', asked))).toEqual(
        callers.map((one) => ({ ...one, count: String(one.count) })),
      );
    });
  });

  test.concurrent('says which call gives the rows that an answer leaves out', async () => {
    const place = await placeWithSample();
    await withMcp(place, [], async ({ text, refusal }) => {
      const hours = { projectId: project, interval: 'hour', dateFrom: '2024-01-01', dateTo: '2024-02-11' };
      const read: string[] = [];
      for (let given: Record<string, unknown> = hours; ; ) {
        const answer = await text('get_caller_stats_series', given);
        expect(countTokens(answer)).toBeLessThanOrEqual(toolTokensMax);
        read.push(...rowsOf(answer).map(({ start = '' }) => start));
        const next = / To get them, call get_caller_stats_series with (\{.*\})$/.exec(answer)?.[1];
        if (next === undefined) break;
        given = JSON.parse(next) as Record<string, unknown>;
      }
      expect(new Set(read).size).toBe(41 * 24);
      const first = { ...hours, rows: '2', firstRow: 3 };
      expect(rowsOf(await text('get_caller_stats_series', first)).map(({ start }) => start)).toEqual([
        '2024-01-01T02:00Z',
        '2024-01-01T03:00Z',
      ]);
      for (const rows of [1.5, toolRowsMax + 1])
        expect(await refusal('get_callers', { projectId: project, firstRow: 0, rows })).toBe(
          'The call has invalid arguments.\n  firstRow: is not a whole number from 1; leave it out or give one\n' +
            '  rows: is not a whole number from 1 to 1,000; leave it out or give one',
        );
    });
  });

  test('errors have the same words over stdio, with --url, and over HTTP', async () => {
    const place = await placeWithSample();
    const key = await makeKey(place, 'admin');
    const { url } = await place.serve();
    const ofProject = { projectId: project };
    const calls: readonly (readonly [tool: string, given: Record<string, unknown>])[] = [
      ['get_caller_stats', {}],
      ['get_caller_stats', { projectId: 7 }],
      ['get_callers', { projectId: 'dcos' }],
      ['get_callers', { projectId: 'x'.repeat(3000) }],
      ['get_callers', { ...ofProject, rows: 0 }],
      ['get_caller_stats', { ...ofProject, dateFrom: '2025-02-29', dateTo: 'soon' }],
      ['get_caller_stats', { ...ofProject, dateFrom: '2025-01-02', dateTo: '2025-01-01' }],
      ['get_caller_stats', { ...ofProject, datefrom: '2025-01-01' }],
      ['get_caller_stats', { ...ofProject, period: 'last_week', timeZone: 'Paris' }],
      ['get_caller_stats', { ...ofProject, compare: 'before' }],
      ['get_caller_stats_series', { ...ofProject, interval: 'weeks', by: 'type' }],
      ['list_projects', { all: true }],
    ];
    const overHttp = async (name: string, given: object) => {
      const body = { jsonrpc: '2.0', id: 1, method: 'tools/call', params: { name, arguments: given } };
      const answer = await fetch(`${url}/mcp`, {
        method: 'POST',
        headers: {
          ...{ authorization: `Bearer ${key}`, 'content-type': 'application/json' },
          accept: 'application/json, text/event-stream',
        },
        body: JSON.stringify(body),
      });
      const { result } = (await answer.json()) as {
        readonly result: {
          readonly isError: boolean;
          readonly content: readonly { readonly text: string }[];
        };
      };
      expect(result.isError).toBe(true);
      return result.content[0]?.text;
    };
    const expectSame = async (args: readonly string[]) =>
      withMcp(
        place,
        args,
        async ({ refusal }) => {
          for (const [name, given] of calls)
            expect(await refusal(name, given), JSON.stringify(given)).toBe(await overHttp(name, given));
        },
        { env: { CALLER_STATS_KEY: key } },
      );
    await expectSame([]);
    await expectSame(['--url', url]);
  });

  test('--url asks a running server with the key of the environment', async () => {
    const place = await placeWithSample();
    const key = await makeKey(place, 'admin');
    const recording = await makeKey(place, 'recording');
    const server = await place.serve();
    const elsewhere = await emptyPlace();
    const asked = { projectId: project, ...year };
    await withMcp(
      elsewhere,
      ['--url', server.url],
      async ({ call, text, refusal }) => {
        expect(await call('list_projects', {})).toEqual({
          projects: [{ id: project, name: 'Docs', timeZone: null, weekStart: null }],
        });
        expect(await call('get_caller_stats', asked)).toEqual({
          web: 2014,
          api: 86,
          other: 3506,
          total: 5606,
        });
        const months = await text('get_caller_stats_series', { ...asked, interval: 'month' });
        expect(rowsOf(months)).toHaveLength(12);
        expect(await text('get_callers', asked)).toMatch(/total 5,606\./);
        // As a server says it at /mcp, and as the command does on a database.
        expect(await refusal('get_callers', { projectId: 'other' })).toBe(
          'There is no project other; see list_projects.',
        );
        await server.stop();
        expect(await refusal('get_callers', asked)).toMatch(
          /^No response from http:\S+: connect ECONNREFUSED/,
        );
      },
      { env: { CALLER_STATS_KEY: key } },
    );
    const again = await place.serve();
    for (const wrong of [recording, `${key}x`]) {
      await withMcp(
        elsewhere,
        ['--url', again.url],
        async ({ refusal }) => {
          const message = await refusal('get_caller_stats', asked);
          expect(message).toMatch(/^The server answered 401: /);
          expect(message).not.toContain(wrong);
        },
        { env: { CALLER_STATS_KEY: wrong } },
      );
    }
  });

  test.concurrent('supports clients of the current and of the next protocol version', async () => {
    const place = await placeWithSample();
    for (const mode of ['legacy', 'auto'] as const) {
      const counts = await withMcp(
        place,
        [],
        ({ call }) => call('get_caller_stats', { projectId: project }),
        {
          client: { versionNegotiation: { mode } },
        },
      );
      expect(counts).toMatchObject({ total: expected.queries });
    }
  });

  test.concurrent('ends when stdin ends, with nothing on stderr', async () => {
    const place = await placeWithProject();
    expect(await place.run(['mcp'])).toEqual({ status: 0, signal: null, stdout: '', stderr: '' });
  });

  test.concurrent('ends with status 0 on SIGTERM while stdin is open', async () => {
    const place = await placeWithProject();
    const script = `
      coproc ${programInShell} mcp
      pid=$COPROC_PID
      exec {in}>&"\${COPROC[1]}" {out}<&"\${COPROC[0]}"
      printf %s "$1" >&$in; IFS= read -r line <&$out
      kill -TERM $pid; wait $pid; echo "status $?"
    `;
    const args = ['--norc', '-c', script, 'bash', opening];
    const { stdout, stderr } = await runCommand('bash', args, { env: place.env });
    expect({ stdout, stderr }).toEqual({ stdout: 'status 0\n', stderr: '' });
  });

  test.concurrent('prints only protocol messages', async () => {
    const place = await placeWithProject();
    const call = line({ id: 2, method: 'tools/call', params: { name: 'list_projects', arguments: {} } });
    // Reads both responses before it closes stdin, then all other output.
    const script = `
      coproc ${programInShell} mcp
      exec {in}>&"\${COPROC[1]}" {out}<&"\${COPROC[0]}"
      eval "exec \${COPROC[1]}>&-"
      printf %s "$1" >&$in; IFS= read -r line <&$out; echo "$line"
      printf %s "$2" >&$in; IFS= read -r line <&$out; echo "$line"
      exec {in}>&-
      cat <&$out
    `;
    const args = ['--norc', '-c', script, 'bash', opening, call];
    const { stdout, stderr } = await runCommand('bash', args, { env: place.env });
    expect(stderr).toBe('');
    const printed = stdout.split('\n').filter(Boolean);
    expect(printed.map((one) => JSON.parse(one) as unknown)).toMatchObject([
      { jsonrpc: '2.0', id: 1, result: { serverInfo: { name: 'caller-stats' } } },
      { jsonrpc: '2.0', id: 2, result: { structuredContent: { projects: [{ id: project }] } } },
    ]);
  });
});
