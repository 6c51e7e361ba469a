import { type Command, Option } from 'commander';
import { parseNetworks } from '../../domain/address.js';
import { KEY_TYPES, type KeyType } from '../../domain/api-key.js';
import { DEFAULT_EXPIRY, parseExpiryWithin } from '../../domain/key-expiry.js';
import { parseScopes, type Scope } from '../../domain/key-scope.js';
import { keyNetworksMax, nameCharactersMax } from '../../domain/limits.js';
import { isName } from '../../domain/project.js';
import type { Result } from '../../domain/result.js';
import { atCommandLine } from '../actor.js';
import { allOrProblems, type Io, UsageError } from '../io.js';
import { organizationOption } from '../organization-option.js';
import { formatTime, printJson, printLine } from '../output.js';
import { readSettings, STORE_SETTINGS, settingOption } from '../settings.js';
import { existing, withStore } from '../with-store.js';
import { toListed } from './listed.js';
import { makeKey } from './make-key.js';

interface CreateOptions {
  readonly name: string;
  readonly type: KeyType;
  readonly organization: string;
  readonly project?: string;
  readonly expires?: string;
  readonly scope?: string;
  readonly allow?: readonly string[];
  readonly json?: boolean;
}

export function addCreateCommand(key: Command, io: Io): void {
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
    .option('--scope <scopes>', 'what an admin key may do: read, or read,write (default: read,write)')
    .option(
      '--allow <network>',
      'an address or network it may be used from, as 192.0.2.0/24; again for more (default: from anywhere)',
      (network: string, before: readonly string[] = []) => [...before, network],
    )
    .option('--expires <when>', `days as 90d, a date as 2027-01-31, or never (default: ${DEFAULT_EXPIRY})`)
    .addOption(organizationOption())
    .addOption(settingOption('keyPrefix'))
    .addOption(settingOption('keyLifeMax'))
    .addOption(settingOption('database'))
    .option('--json', 'print the key and what is kept of it as JSON')
    .action(async (options: CreateOptions) => {
      const by = atCommandLine(io.clock);
      const [settings, checked] = allOrProblems(
        () => readSettings([...STORE_SETTINGS, 'keyPrefix', 'keyLifeMax'], { ...options }, io.env),
        () => checkNewKey(options, by.at),
      );
      const expiresAt = expiryOf(options.expires, by.at, settings.keyLifeMax);
      const { key, secret } = await withStore(settings, existing, (store) =>
        makeKey(
          store,
          {
            ...checked,
            organizationId: options.organization,
            projectId: options.project ?? null,
            type: options.type,
            name: options.name,
            expiresAt,
          },
          { vendor: settings.keyPrefix, by, randomInt: io.randomInt },
        ),
      );
      if (options.json) return printJson(io.stdout, { key: secret, ...toListed(key, io.clock.now()) });
      printLine(io.stdout, secret);
      const expiry = expiresAt === null ? 'never expires' : `expires ${formatTime(expiresAt)}`;
      printLine(io.stderr, `Key ${key.id} ${expiry}. It is not shown again.`);
    });
}

/** What is to be kept of the options but the expiry. `UsageError` with everything that is wrong. */
function checkNewKey(
  { name, type, project, scope, allow = [], expires }: CreateOptions,
  nowMs: number,
): { scopes?: readonly Scope[]; allow: readonly string[] } {
  const problems: string[] = [];
  const check = <T>(option: string, result: Result<T>): T[] => {
    if (result.ok) return [result.value];
    problems.push(...result.problems.map((problem) => `${option}: ${problem}`));
    return [];
  };
  if (!isName(name)) problems.push(`--name: is not 1 to ${nameCharactersMax} visible characters`);
  if (type === 'recording' && project === undefined) problems.push('--project: a recording key needs one');
  if (type === 'admin' && project !== undefined) {
    problems.push('--project: an admin key opens all projects; leave it out, or make a recording key');
  }
  if (type === 'recording' && scope !== undefined) {
    problems.push('--scope: a recording key may only record; leave it out');
  }
  const [scopes] = scope === undefined ? [] : check('--scope', parseScopes(scope));
  if (expires !== undefined) check('--expires', parseExpiryWithin(expires, nowMs, null));
  const [networks = []] = check('--allow', parseNetworks(allow));
  if (networks.length > keyNetworksMax) problems.push(`--allow: is given more than ${keyNetworksMax} times`);
  if (problems.length > 0) throw new UsageError(problems);
  return { ...(scopes === undefined ? {} : { scopes }), allow: networks };
}

/** Milliseconds since 1970, or null. */
function expiryOf(text: string | undefined, nowMs: number, lifeMsMax: number | null): number | null {
  const expiry = parseExpiryWithin(text, nowMs, lifeMsMax);
  if (!expiry.ok) throw new UsageError(expiry.problems.map((problem) => `--expires: ${problem}`));
  return expiry.value;
}
