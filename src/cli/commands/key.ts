/** `caller-stats key`: creates, lists, rotates, disables and revokes API keys. */
import { type Command, Option } from 'commander';
import { keyToJson } from '../../app/json.js';
import { createKey, rotateKey } from '../../app/keys.js';
import { formatTime } from '../../domain/format.js';
import { type ApiKey, KEY_TYPES, keyStatus } from '../../domain/keys/api-key.js';
import { DEFAULT_EXPIRIES, DEFAULT_GRACE, parseGrace } from '../../domain/keys/key-lifetime.js';
import { type KeyRequest, parseKeyRequest } from '../../domain/keys/new-key.js';
import type { Io } from '../io.js';
import { settingOption } from '../settings/settings.js';
import { addStoreAction, collect, requireValue } from '../store-command.js';
import { formatTable } from '../terminal/output.js';

export function addKeyCommand(program: Command, io: Io): void {
  const key = program.command('key').description('creates, lists, rotates, disables and revokes API keys');
  addCreate(key, io);
  addList(key, io);
  addRotate(key, io);
  addChange(key, io, 'disable', 'disabled', 'stops an API key from working until it is enabled, at once');
  addChange(key, io, 'enable', 'enabled', 'lets a disabled API key work again');
  addChange(key, io, 'revoke', 'revoked', 'revokes an API key forever, at once');
}

function addCreate(key: Command, io: Io): void {
  const command = key
    .command('create')
    .description('creates an API key and prints it once: only its hash is stored')
    .requiredOption('--name <name>', 'a name for people')
    .addOption(
      new Option(
        '--type <type>',
        'admin: reads and records all projects; recording: may only record, into one project; reading: may only read one project',
      )
        .choices(KEY_TYPES)
        .default('admin'),
    )
    .option('--project <id>', 'the one project of a recording or reading key')
    .option('--scope <scopes>', 'what an admin key may do: read, or read,write (default: read,write)')
    .option(
      '--allow <network>',
      'an address or network that may use it, such as 192.0.2.0/24 (repeatable; default: all)',
      collect,
    )
    .option(
      '--expires <when>',
      `days such as 90d, a date such as 2027-01-31, or never (default: ${DEFAULT_EXPIRIES.admin}; recording keys: ${DEFAULT_EXPIRIES.recording})`,
    )
    .addOption(settingOption('keyPrefix'))
    .addOption(settingOption('keyLifeMax'));
  addStoreAction(command, io, {
    json: 'print the key and its properties as JSON',
    settings: ['keyPrefix', 'keyLifeMax'],
    parse: (request: KeyRequest, _argument, settings) => {
      const limits = { nowMs: io.clock.now(), lifeMsMax: settings?.keyLifeMax ?? null };
      requireValue(parseKeyRequest(request, limits), '--');
      return request;
    },
    run: async ({ store, settings, organizationId, input, by }) => {
      const issuing = { store, ...settings, randomInt: io.randomInt };
      const { key: created, secret } = await createKey(issuing, organizationId, input, by);
      const expiry =
        created.expiresAt === null ? 'never expires' : `expires ${formatTime(created.expiresAt)}`;
      const notes = [`Key ${created.id} ${expiry}. It is not shown again.`];
      return { json: { key: secret, ...keyToJson(created, by.at) }, text: secret, notes };
    },
  });
}

function addList(key: Command, io: Io): void {
  const command = key
    .command('list')
    .description('lists the API keys, including disabled, expired and revoked ones');
  addStoreAction(command, io, {
    json: 'print them as JSON',
    run: async ({ store, organizationId, by }) => {
      const json = (await store.directory.listKeys(organizationId)).map((one) => keyToJson(one, by.at));
      const rows = json.map((row) => [
        row.id,
        row.name,
        row.type,
        row.project ?? '(all)',
        `${row.start}…${row.end}`,
        row.status,
        row.scopes.join(),
        row.allow.join() || '(anywhere)',
        row.createdAt,
        row.createdBy,
        row.expiresAt ?? 'never',
        row.lastUsedAt ?? 'never',
      ]);
      const titles = 'ID,NAME,TYPE,PROJECT,KEY,STATUS,SCOPES,FROM,CREATED,BY,EXPIRES,LAST USED'.split(',');
      return { json, text: formatTable(titles, rows) };
    },
  });
}

function addRotate(key: Command, io: Io): void {
  const command = key
    .command('rotate')
    .description('creates a successor of an API key and prints it once; the old key works for a grace period')
    .argument('<id>', 'its id, from key list')
    .option('--grace <time>', 'how long the old key still works: 30m, 24h, 7d, or 0', DEFAULT_GRACE)
    .addOption(settingOption('keyPrefix'))
    .addOption(settingOption('keyLifeMax'));
  addStoreAction(command, io, {
    json: 'print the successor and its properties as JSON',
    settings: ['keyPrefix', 'keyLifeMax'],
    parse: ({ grace }: { grace: string }, id) => ({
      id,
      graceMs: requireValue(parseGrace(grace), '--grace: '),
    }),
    run: async ({ store, settings, organizationId, input, by }) => {
      const issuing = { store, ...settings, randomInt: io.randomInt };
      const { old, oldExpiresAt, successor } = await rotateKey(issuing, { organizationId, ...input }, by);
      const { key: created, secret } = successor;
      const end = formatTime(oldExpiresAt);
      const notes = [
        `Key ${created.id} takes over from ${describeKey(old)}, which works until ${end}.`,
        'It is not shown again.',
      ];
      return { json: { key: secret, ...keyToJson(created, by.at) }, text: secret, notes };
    },
  });
}

function addChange(
  key: Command,
  io: Io,
  change: 'disable' | 'enable' | 'revoke',
  done: string,
  description: string,
): void {
  const command = key.command(change).description(description).argument('<id>', 'its id, from key list');
  addStoreAction(command, io, {
    json: 'print the properties of the key as JSON',
    parse: (_options, id) => id,
    run: async ({ store, organizationId, input, by }) => {
      const changed = await store.directory.changeKey(organizationId, input, change, by);
      const status = keyStatus(changed, by.at);
      // Enabling does not help a key that is also expired or revoked.
      const still = change === 'enable' && status !== 'active' ? `, but it is still ${status}` : '';
      return { json: keyToJson(changed, by.at), text: `${done} ${describeKey(changed)}${still}` };
    },
  });
}

/** A key in one line: `k1 (reporting, cs_admin_abcd…wxyz)`. */
function describeKey({ id, name, start, end }: ApiKey): string {
  return `${id} (${name}, ${start}…${end})`;
}
