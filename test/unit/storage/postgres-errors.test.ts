import { DatabaseError } from 'pg';
import { describe, expect, test } from 'vitest';
import { diagnose, storeError } from '../../../src/storage/postgres/errors.js';

const withState = (code: string) => Object.assign(new DatabaseError('words', 5, 'error'), { code });

describe('what the server says of itself or of a connection is no mistake of the program', () => {
  test.each([
    ['admin_shutdown', '57P01'],
    ['crash_shutdown', '57P02'],
    ['cannot_connect_now', '57P03'],
    ['idle_session_timeout', '57P05'],
    ['idle_in_transaction_session_timeout', '25P03'],
    ['transaction_timeout', '25P04'],
    ['connection_failure', '08006'],
    ['too_many_connections', '53300'],
    ['deadlock_detected', '40P01'],
    ['read_only_sql_transaction', '25006'],
  ])('%s may pass at once', (_name, state) => {
    expect(diagnose(withState(state))).toMatchObject({ passing: true });
    expect(storeError(withState(state))).toMatchObject({ code: 'unavailable' });
  });

  test.each([
    ['database_dropped', '57P04'],
    ['query_canceled', '57014'],
    ['disk_full', '53100'],
    ['out_of_memory', '53200'],
    ['io_error', '58030'],
    ['invalid_password', '28P01'],
    ['invalid_catalog_name', '3D000'],
    ['insufficient_privilege', '42501'],
  ])('%s stays for a while', (_name, state) => {
    expect(diagnose(withState(state))).toMatchObject({ passing: false });
    expect(storeError(withState(state))).toMatchObject({ code: 'unavailable' });
  });

  test.each([
    new Error('Connection terminated unexpectedly'),
    new Error('Query read timeout'),
    new Error('timeout exceeded when trying to connect'),
    Object.assign(new Error('read ECONNRESET'), { code: 'ECONNRESET' }),
    Object.assign(new AggregateError([]), { code: 'ECONNREFUSED' }),
  ])('%s', (error) => {
    expect(diagnose(error)).toMatchObject({ passing: true, undone: false });
    expect(storeError(error)).toMatchObject({ code: 'unavailable', cause: error });
  });
});

test.each([withState('23505'), withState('42601'), withState('XX000'), new TypeError('x is undefined')])(
  'a mistake of the program stays what it is: %s',
  (error) => {
    expect(diagnose(error)).toMatchObject({ meaning: undefined, passing: false });
    expect(storeError(error)).toBe(error);
  },
);
