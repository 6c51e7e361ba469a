import { readFileSync } from 'node:fs';
import { describe, expect, test } from 'vitest';
import { runCli } from '../support/cli.js';

const { version } = JSON.parse(readFileSync(new URL('../../package.json', import.meta.url), 'utf8')) as {
  version: string;
};

describe('--help', () => {
  test.concurrent.each([
    ['', ['serve', 'project', 'key', 'import', 'stats', 'verify', 'copy', '--version']],
    ['', ['organization', 'member', 'audit', 'migrate', 'backup', 'restore', 'mcp']],
    [
      'serve',
      ['--host', '--port', '--database', '--key-prefix', '--log-level', '--batch-queries-max']
        .concat(['--body-bytes-max', '--demo', 'HOST', 'PORT', 'DATABASE_URL', 'CALLER_STATS_KEY_PREFIX'])
        .concat(['CALLER_STATS_LOG_LEVEL', 'CALLER_STATS_BATCH_QUERIES_MAX', 'CALLER_STATS_BODY_BYTES_MAX'])
        .concat(['--key-life-max', '--trust-proxy', '--requests-per-minute', '--failures-per-minute'])
        .concat(['--audit-days', 'CALLER_STATS_KEY_LIFE_MAX', 'CALLER_STATS_TRUST_PROXY'])
        .concat(['CALLER_STATS_REQUESTS_PER_MINUTE', 'CALLER_STATS_FAILURES_PER_MINUTE'])
        .concat(['CALLER_STATS_AUDIT_DAYS', '127.0.0.1', '4000', 'sqlite:./data/caller-stats.db', 'SIGTERM']),
    ],
    ['project', ['create', 'list']],
    ['organization', ['create', 'list']],
    ['organization create', ['<name>', '--id', '--database', '--json']],
    ['organization list', ['--database', '--json']],
    ['member', ['add', 'list', 'change', 'remove']],
    ['member add', ['<email>', '--role', 'owner', '--organization', '--database', '--json']],
    ['member list', ['--organization', '--database', '--json']],
    ['member change', ['<email>', '--role', '--organization', '--database', '--json']],
    ['member remove', ['<email>', '--organization', '--database', '--json']],
    ['audit', ['--from', '--to', '--organization', '--database', '--json']],
    ['project create', ['<name>', '--id', '--organization', '--database', '--json']],
    ['project list', ['--organization', '--database', '--json']],
    ['key', ['create', 'list', 'rotate', 'disable', 'enable', 'revoke']],
    [
      'key create',
      ['--name', '--type', '--project', '--expires', '90d', '--key-prefix', '--database', '--json'].concat([
        '--scope',
        '--allow',
        '--key-life-max',
        '--organization',
      ]),
    ],
    ['key list', ['--organization', '--database', '--json']],
    ['key rotate', ['<id>', '--grace', '24h', '--key-life-max', '--organization', '--database', '--json']],
    ['key disable', ['<id>', '--organization', '--database', '--json']],
    ['key enable', ['<id>', '--organization', '--database', '--json']],
    ['key revoke', ['<id>', '--organization', '--database', '--json']],
    [
      'import',
      ['<file...>', '--project', '--format', '--strict', '--database', '--url', 'CALLER_STATS_KEY', '--json'],
    ],
    [
      'stats',
      ['<project>', '--from', '--to', '--database', '--url', 'CALLER_STATS_KEY', '--json'].concat([
        '--interval',
        '--time-zone',
        '--callers',
        '--csv',
      ]),
    ],
    ['mcp', ['--organization', '--database', '--url', 'CALLER_STATS_KEY', 'MCP']],
    ['verify', ['--database', '--json']],
    ['migrate', ['--distribute', '--no-backup', '--database', '--json']],
    ['backup', ['<file>', '--replace', '--database', '--json']],
    ['restore', ['<file>', '--replace', '--database', '--json']],
    ['copy', ['--from', '--to', 'CALLER_STATS_COPY_FROM', 'CALLER_STATS_COPY_TO', 'required', '--json']],
  ])('of "%s" is on stdout and has every option', async (command, words) => {
    const { status, stdout, stderr } = await runCli([...command.split(' ').filter(Boolean), '--help']);
    expect({ status, stderr }).toEqual({ status: 0, stderr: '' });
    expect(stdout).toMatch(new RegExp(`^Usage: caller-stats${command === '' ? '' : ` ${command}`} `));
    for (const word of words) expect(stdout.replaceAll(/\s+/g, ' ')).toContain(word);
  });
});

test('--version is that of the package', async () => {
  expect(await runCli(['--version'])).toMatchObject({ status: 0, stdout: `${version}\n`, stderr: '' });
});

describe('wrong usage exits with 2 and says what is wrong on stderr:', () => {
  test.concurrent.each([
    [[], /^Usage: caller-stats /],
    [['project'], /^Usage: caller-stats project /],
    [['imprt'], /unknown command 'imprt'\n\(Did you mean import\?\)/],
    [['key', 'make'], /unknown command 'make'/],
    [['verify', '--jsn'], /unknown option '--jsn'\n\(Did you mean --json\?\)/],
    [['stats'], /missing required argument 'project'/],
    [['stats', 'a', 'b'], /too many arguments/],
    [['serve', 'now'], /too many arguments/],
    [['serve', '--port'], /argument missing/],
  ])('%j', async (args, message) => {
    const { status, stdout, stderr } = await runCli(args);
    expect({ status, stdout }).toEqual({ status: 2, stdout: '' });
    expect(stderr).toMatch(message);
  });
});
