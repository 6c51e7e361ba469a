import { expect, test } from 'vitest';
import { SETTINGS } from '../../../src/cli/settings/settings.js';
import { unknownVariables } from '../../../src/cli/settings/unknown-variables.js';

test.each([
  ['CALLER_STATS_PORT', 'PORT'],
  ['CALLER_STATS_POTR', 'PORT'],
  ['CALLER_STATS_HOST', 'HOST'],
  ['CALLER_STATS_DATABASE', 'DATABASE_URL'],
  ['CALLER_STATS_DATABASE_URL', 'DATABASE_URL'],
  ['CALLER_STATS_BASE_PATH', 'BASE_PATH'],
  ['CALLER_STATS_LOGLEVEL', 'CALLER_STATS_LOG_LEVEL'],
  ['CALLER_STATS_QQQQQQQQQQQQ', undefined],
  ['caller_stats_port', 'PORT'],
  ['caller_stats_log_level', 'CALLER_STATS_LOG_LEVEL'],
  ['Caller_Stats_Base_Path', 'BASE_PATH'],
  ['CALLERSTATS_LOG_LEVEL', 'CALLER_STATS_LOG_LEVEL'],
  ['CALLER_STAT_LOG_LEVEL', 'CALLER_STATS_LOG_LEVEL'],
  ['CALELR_STATS_TRUST_PROXY', 'CALLER_STATS_TRUST_PROXY'],
  ['caller-stats-port', 'PORT'],
  ['database_url', 'DATABASE_URL'],
  ['DATABASE_ULR', 'DATABASE_URL'],
  ['DATABSE_URL', 'DATABASE_URL'],
  ['BASEPATH', 'BASE_PATH'],
  ['port', 'PORT'],
])('%s is named, and %s suggested', (name, meant) => {
  const help = meant === undefined ? 'see caller-stats serve --help' : `did you mean ${meant}?`;
  // The value may be a secret.
  expect(unknownVariables({ [name]: 'a value' })).toEqual([
    `${name}: is not a setting and has no effect; ${help}`,
  ]);
  expect(unknownVariables({ [name]: '' })).toEqual([]);
});

test('settings, and what other programs set, are not named', () => {
  const names = Object.values(SETTINGS).map(({ environment }) => environment);
  const others = [
    'CALLER_STATS_KEY',
    'CALLER_STATS_URL',
    'CALLER_STATS_RECORDING_KEY',
    'CALLER_STATS_TEST_DEEP',
    'PORTS',
    'CALLER',
    'CALLER_ID',
    'CALLER_STATS',
    'CALLBACK_STATE_PORT',
    'TEST_DATABASE_URL',
  ];
  // Kubernetes, for a service that is called caller-stats.
  const service = {
    CALLER_STATS_PORT: 'tcp://10.0.0.1:4000',
    CALLER_STATS_SERVICE_HOST: '10.0.0.1',
    CALLER_STATS_SERVICE_PORT: '4000',
    CALLER_STATS_SERVICE_PORT_HTTP: '4000',
    CALLER_STATS_PORT_4000_TCP: 'tcp://10.0.0.1:4000',
    CALLER_STATS_PORT_4000_TCP_ADDR: '10.0.0.1',
  };
  const set = Object.fromEntries([...names, ...others].map((name) => [name, 'a']));
  expect(unknownVariables({ ...set, ...service })).toEqual([]);
  // Another program's, beside the setting.
  expect(unknownVariables({ DATABASE_URL: 'sqlite:a', DATABASE_URI: 'a' })).toEqual([]);
});
