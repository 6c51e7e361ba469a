/** `caller-stats key`: makes, lists and revokes API keys. */
import { type Command, Option } from 'commander';
import { type ApiKey, KEY_TYPES, type KeyType, keyStatus } from '../domain/api-key.js';
import { DEFAULT_EXPIRY, parseExpiry } from '../domain/key-expiry.js';
import { nameCharactersMax } from '../domain/limits.js';
import { DEFAULT_ORGANIZATION_ID, isName } from '../domain/project.js';
import { allOrProblems, type Io, UsageError } from './io.js';
import { makeKey } from './make-key.js';
import { formatTime, printJson, printLine, printTable } from './output.js';
import { readSettings, STORE_SETTINGS, settingOption } from './settings.js';
import { existing, withStore } from './with-store.js';

interface CreateOptions {
  readonly name: string;
  readonly type: KeyType;
  readonly project?: string;
  readonly expires: string;
  readonly json?: boolean;
}

export function addKeyCommand(program: Command, io: Io): void {
  const key = program.command('key').description('makes, lists and revokes API keys');

  key
    .command('create')
    .description('makes an API key and prints it, this once: only its hash is kept')
    .requiredOption('--name <name>', 'what people call it')
    .addOption(
      new Option(
        '--type <type>',
        'admin: reads and records all projects; recording: may only record, into one project',
      )
        .choices(KEY_TYPES)
        .default('admin'),
    )
    .option('--project <id>', 'the one project of a recording key')
    .option('--expires <when>', 'days as 90d, a date as 2027-01-31, or never', DEFAULT_EXPIRY)
    .addOption(settingOption('keyPrefix'))
    .addOption(settingOption('database'))
    .option('--json', 'print the key and what is kept of it as JSON')
    .action(async (options: CreateOptions) => {
      const createdAt = io.clock.now();
      const [settings, expiresAt] = allOrProblems(
        () => readSettings([...STORE_SETTINGS, 'keyPrefix'], { ...options }, io.env),
        () => checkNewKey(options, createdAt),
      );
      const { key: made, secret } = await withStore(settings, existing, (store) =>
        makeKey(
          store,
          {
            organizationId: DEFAULT_ORGANIZATION_ID,
            projectId: options.project ?? null,
            type: options.type,
            name: options.name,
            expiresAt,
            vendor: settings.keyPrefix,
            createdAt,
          },
          io,
        ),
      );
      if (options.json) return printJson(io.stdout, { key: secret, ...toListed(made, io.clock.now()) });
      printLine(io.stdout, secret);
      const expiry = expiresAt === null ? 'never expires' : `expires ${formatTime(expiresAt)}`;
      printLine(io.stderr, `Key ${made.id} ${expiry}. It is not shown again.`);
    });

  key
    .command('list')
    .description('lists the API keys, expired and revoked ones included')
    .addOption(settingOption('database'))
    .option('--json', 'print them as JSON')
    .action(async (options: { json?: boolean }) => {
      const settings = readSettings(STORE_SETTINGS, options, io.env);
      const keys = await withStore(settings, existing, (store) => store.listKeys(DEFAULT_ORGANIZATION_ID));
      const rows = keys.map((one) => toListed(one, io.clock.now()));
      if (options.json) return printJson(io.stdout, rows);
      printTable(
        io.stdout,
        ['ID', 'NAME', 'TYPE', 'PROJECT', 'KEY', 'STATUS', 'CREATED', 'BY', 'EXPIRES', 'LAST USED'],
        rows.map((row) => [
          row.id,
          row.name,
          row.type,
          row.project ?? '(all)',
          `${row.start}…${row.end}`,
          row.status,
          row.createdAt,
          row.createdBy,
          row.expiresAt ?? 'never',
          row.lastUsedAt ?? 'never',
        ]),
      );
    });

  key
    .command('revoke')
    .description('revokes an API key for ever, from the very next request on')
    .argument('<id>', 'its id, from key list')
    .addOption(settingOption('database'))
    .option('--json', 'print what is kept of the key as JSON')
    .action(async (id: string, options: { json?: boolean }) => {
      const settings = readSettings(STORE_SETTINGS, options, io.env);
      const nowMs = io.clock.now();
      const revoked = await withStore(settings, existing, (store) =>
        store.revokeKey(DEFAULT_ORGANIZATION_ID, id, nowMs),
      );
      if (options.json) printJson(io.stdout, toListed(revoked, nowMs));
      else printLine(io.stdout, `revoked ${revoked.id} (${revoked.name}, ${revoked.start}…${revoked.end})`);
    });
}

/** The expiry, in milliseconds since 1970, or null. `UsageError` with everything that is wrong. */
function checkNewKey({ name, type, project, expires }: CreateOptions, nowMs: number): number | null {
  const problems: string[] = [];
  if (!isName(name)) problems.push(`--name: is not 1 to ${nameCharactersMax} visible characters`);
  if (type === 'recording' && project === undefined) problems.push('--project: a recording key needs one');
  if (type === 'admin' && project !== undefined) {
    problems.push('--project: an admin key opens all projects; leave it out, or make a recording key');
  }
  const expiry = parseExpiry(expires, nowMs);
  if (!expiry.ok) problems.push(...expiry.problems.map((problem) => `--expires: ${problem}`));
  if (problems.length > 0 || !expiry.ok) throw new UsageError(problems);
  return expiry.value;
}

/** What may be shown of a key. */
function toListed(key: ApiKey, nowMs: number) {
  return {
    id: key.id,
    name: key.name,
    type: key.type,
    project: key.projectId,
    start: key.start,
    end: key.end,
    status: keyStatus(key, nowMs),
    createdAt: formatTime(key.createdAt),
    createdBy: key.createdBy,
    expiresAt: key.expiresAt === null ? null : formatTime(key.expiresAt),
    revokedAt: key.revokedAt === null ? null : formatTime(key.revokedAt),
    lastUsedAt: key.lastUsedAt === null ? null : formatTime(key.lastUsedAt),
  };
}
