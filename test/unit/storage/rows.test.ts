import { expect, test } from 'vitest';
import { toOrganization } from '../../../src/storage/sql/rows.js';

test('an organization is read from numbers as texts, too', () => {
  const organization = { id: 'acme', name: 'Acme', createdAt: 12 };
  expect(toOrganization(organization)).toEqual(organization);
  expect(toOrganization({ ...organization, createdAt: '12' })).toEqual(organization);
});
