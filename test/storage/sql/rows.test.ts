import { expect, test } from 'vitest';
import { KEY } from '../../../src/storage/sql/rows.js';
import { keyOf } from '../../support/storage/entities.js';

test('names columns after fields and stores lists as text', () => {
  const key = keyOf('k', { scopes: ['read', 'write'], allow: [] });
  expect(KEY.names).toBe(
    'id, organization_id, project_id, type, name, hash, start, "end", created_by, created_at, expires_at, revoked_at, ' +
      'last_used_at, disabled_at, scopes, allow, successor_id',
  );
  expect(KEY.placeholders.split(', ')).toHaveLength(KEY.names.split(', ').length);
  const row = { ...key, scopes: 'read,write', allow: '' };
  expect(KEY.values(key)).toEqual(
    Object.values(KEY.read(row)).map((value) => (Array.isArray(value) ? value.join() : value)),
  );
  expect(KEY.read(row)).toEqual(key);
});
