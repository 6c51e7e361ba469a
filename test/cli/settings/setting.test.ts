import { expect, test } from 'vitest';
import { maskPassword, mayHoldPassword } from '../../../src/cli/settings/setting.js';
import { readSettings } from '../../../src/cli/settings/settings.js';
import { words } from '../../support/words.js';

test.each([
  ['postgres://user:hunter2@host:5432/db', 'postgres://user:***@host:5432/db'],
  ['--database=postgres://user:hunter2@host/db', '--database=postgres://user:***@host/db'],
  ['postgres://:hunter2@host/db', 'postgres://:***@host/db'],
  ['postgres://user:hunter%402@host/db', 'postgres://user:***@host/db'],
  // Characters that should be escaped but are not.
  ['postgres://user:hunter@2@host/db', 'postgres://user:***@host/db'],
  ['postgres://user:5/hunter2@host/db', 'postgres://user:***@host/db'],
  ['postgres://user:#?:/hunter2@host/db', 'postgres://user:***@host/db'],
  ['postgers://user:hunter2@host', 'postgers://user:***@host'],
  ['postgres:///db?password=hunter2', 'postgres:///db?password=***'],
  ['postgres:///db?user=u&PASSWORD=hunter2&schema=s', 'postgres:///db?user=u&PASSWORD=***&schema=s'],
  ['postgres://host/db?sslpassword=hunter2', 'postgres://host/db?sslpassword=***'],
])('%s is shown as %s', (argument, shown) => {
  expect(maskPassword(argument)).toBe(shown);
  expect(mayHoldPassword(argument)).toBe(true);
});

test.each(
  words(`
  serve --database postgres://user@host:5432/db?schema=s postgres:///db?host=/run/postgresql
  sqlite:./data/caller-stats.db http://127.0.0.1:4000/base
`),
)('%s is shown unchanged', (argument) => {
  expect(maskPassword(argument)).toBe(argument);
});

test.each([
  ['9464', { host: '127.0.0.1', port: 9464 }],
  ['10.0.0.5:9464', { host: '10.0.0.5', port: 9464 }],
  ['[::1]:0', { host: '::1', port: 0 }],
])('metrics at %s are read only where that says, and on this machine by default', (metrics, address) => {
  expect(readSettings(['metrics'], { metrics }, {}).metrics).toEqual(address);
});
