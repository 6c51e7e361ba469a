import { expect, test } from 'vitest';
import { KEY, ORGANIZATION } from '../../../src/storage/sql/rows.js';
import { keyOf } from '../../support/entities.js';

test('numbers may be read as text, as PostgreSQL returns them', () => {
  const organization = { id: 'acme', name: 'Acme', createdAt: 12 };
  expect(ORGANIZATION.read(organization)).toEqual(organization);
  expect(ORGANIZATION.read({ ...organization, createdAt: '12' })).toEqual(organization);
});

test('columns are named after fields, and lists stored as text', () => {
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
