import pg from 'pg';
import { describe, expect, test } from 'vitest';
import { CallerStatsError } from '../../../../src/domain/errors.js';
import { Connection } from '../../../../src/storage/postgres/connection/connections.js';
import {
  diagnose,
  isConflict,
  isDamage,
  markUndone,
  storeError,
} from '../../../../src/storage/postgres/connection/errors.js';
import { Hosts } from '../../../../src/storage/postgres/connection/hosts.js';
import { parsePostgresUrl } from '../../../../src/storage/postgres/connection/location.js';

function serverError(state: string): pg.DatabaseError {
  return Object.assign(new pg.DatabaseError('in the words of the server', 0, 'error'), { code: state });
}

/** The diagnosis of an error that is not a circumstance of the database. */
const unknown = { meaning: undefined, passing: false, undone: false, otherSchema: false };

describe('an error of the server', () => {
  test.each([
    ['40001', /gave way to another transaction/, { passing: true }],
    ['40P01', /gave way to another transaction/, { passing: true }],
    ['57P01', /stopping or starting/, { passing: true }],
    ['57P02', /stopping or starting/, { passing: true }],
    ['57P03', /stopping or starting/, { passing: true }],
    ['57P04', /dropped from the server/, {}],
    ['57P05', /closed a connection/, { passing: true }],
    ['25P03', /closed a connection/, { passing: true }],
    ['25P04', /closed a connection/, { passing: true }],
    ['08006', /connection is broken/, { passing: true, undone: false }],
    ['08P01', /connection is broken/, { passing: true, undone: false }],
    ['25006', /read-only/, { passing: true }],
    ['55P03', /a lock/, { passing: true }],
    ['53300', /no connection left/, { passing: true }],
    ['53100', /disk is full/, {}],
    ['53200', /lacks memory/, {}],
    ['57014', /took too long/, {}],
    ['42P07', /of another program/, {}],
    ['28P01', /refuses this password/, {}],
    ['28000', /refuses this user.+pg_hba.conf/, {}],
    ['3D000', /no such database/, {}],
    ['42501', /privilege/, {}],
    ['58030', /its system/, {}],
    ['0A000', /schema has just changed/, { passing: true }],
    ['42P01', /schema is not/, { otherSchema: true }],
    ['42703', /schema is not/, { otherSchema: true }],
    ['42883', /schema is not/, { otherSchema: true }],
    ['3F000', /schema is not/, { otherSchema: true }],
    ['42P13', /schema is not/, { otherSchema: true }],
    ['42804', /schema is not/, { otherSchema: true }],
    ['26000', /its pooler/, { passing: true }],
    ['42P05', /its pooler/, { passing: true }],
  ])('with the state %s means: %s', (state, meaning, more) => {
    const error = serverError(state);
    const usual = { passing: false, undone: true, otherSchema: false };
    expect(diagnose(error)).toEqual({ meaning: expect.stringMatching(meaning), ...usual, ...more });
    expect(storeError(error)).toMatchObject({
      code: 'unavailable',
      message: expect.stringMatching(meaning),
      cause: error,
    });
  });

  test.each(['23505', '23503', '22P02', '42601', 'XX000', 'XX001', 'P0001', '25P02', ''])(
    '%j is none, and is passed on as it is',
    (state) => {
      const error = serverError(state);
      expect(diagnose(error)).toEqual({ ...unknown, undone: true });
      expect(storeError(error)).toBe(error);
    },
  );
});

/** As servers, poolers and clusters said it while they were killed. */
describe('the words of an error', () => {
  test.each([
    ['XX000', 'postmaster was shut down, exiting', /a server of the cluster went away/, true],
    ['XX000', 'failure on connection marked as essential: 127.0.0.1:9701', /went away/, true],
    ['XX000', 'terminating connection due to administrator command', /went away/, true],
    ['XX000', 'terminating connection due to unexpected postmaster exit', /went away/, true],
    ['XX000', 'could not commit transaction for shard 102008 on at least one active node', /went away/, true],
    ['XX000', "failed to prepare transaction 'citus_1' on host 127.0.0.1:9701", /went away/, true],
    ['XX000', 'server closed the connection unexpectedly', /went away/, true],
    ['XX000', 'could not find valid entry for shard 170864', /is splitting or moving a shard/, true],
    [
      'XX000',
      'loaded Citus library version differs from installed extension version',
      /another version of Citus than its database; run ALTER EXTENSION citus UPDATE there/,
      true,
    ],
    ['XX000', 'loaded Citus library version differs from latest available extension version', /Citus/, true],
    ['XX000', 'cannot execute a distributed query from a query on a shard', /another version of Citus/, true],
    ['XX000', 'SSL connection has been closed unexpectedly', /went away/, true],
    ['08006', 'connection to the remote node a@b:1 failed', /connection is broken/, true],
    ['08P01', 'server login has been failing, try again later (server_login_retry)', /is broken/, true],
    ['08P01', 'query_wait_timeout', /is broken/, true],
    ['08P01', 'unsupported startup parameter: options', /pooler refuses a parameter/, false],
    ['08P01', 'transaction blocks not allowed in statement pooling mode', /pool_mode to transaction/, false],
  ])('%s %s mean that it may have run', (state, message, meaning, passing) => {
    const error = Object.assign(new pg.DatabaseError(message, 0, 'error'), { code: state });
    expect(diagnose(error)).toEqual({
      meaning: expect.stringMatching(meaning),
      passing,
      undone: false,
      otherSchema: false,
    });
    expect(storeError(error)).toMatchObject({ code: 'unavailable', cause: error });
  });

  test.each(['cache lookup failed for relation 1', 'unexpected chunk number 0'])(
    'of an internal error are a bug: %s',
    (message) => {
      const error = Object.assign(new pg.DatabaseError(message, 0, 'error'), { code: 'XX000' });
      expect(diagnose(error)).toMatchObject({ meaning: undefined, passing: false });
      expect(storeError(error)).toBe(error);
    },
  );
});

test('an error before the commit changed nothing', () => {
  const error = new Error('Connection terminated unexpectedly');
  expect(diagnose(error)).toMatchObject({ passing: true, undone: false });
  markUndone(error);
  expect(diagnose(error)).toMatchObject({ passing: true, undone: true });
});

test.each(['SyncRepWaitForLSN', 'FinishRemoteTransactionCommit'])(
  'a commit with a warning of %s is not acknowledged, and may have been made',
  (routine) => {
    const location = parsePostgresUrl('postgres://h/db');
    if (!location.ok) throw new Error('the URL is valid');
    const connection = new Connection({}, new Hosts(location.value, 1000));
    connection.emit('notice', { routine: 'exec_stmt_raise' });
    connection.requireCertain();
    connection.emit('notice', { routine });
    const doubts = [1, 2].map(() => {
      try {
        return connection.requireCertain();
      } catch (error) {
        return diagnose(error);
      }
    });
    expect(doubts[0]).toMatchObject({ passing: true, undone: false, meaning: expect.any(String) });
    expect(doubts[1]).toEqual(doubts[0]);
  },
);

test.each([
  ['refused', Object.assign(new Error('connect ECONNREFUSED'), { code: 'ECONNREFUSED' })],
  ['refused at each of its addresses', new AggregateError([new Error('connect ECONNREFUSED')])],
  ['broken off', new Error('Connection terminated unexpectedly')],
  ['not had in time', new Error('timeout exceeded when trying to connect')],
  ['not answered in time', new Error('Query read timeout')],
])('a connection that is %s is retryable, and its statement may have run', (_what, error) => {
  expect(diagnose(error)).toMatchObject({ passing: true, undone: false, otherSchema: false });
  expect(storeError(error)).toMatchObject({ code: 'unavailable', cause: error });
});

const withCode = (code: string) => Object.assign(new Error('words'), { code });

test.each([
  [withCode('ECONNREFUSED'), /nothing answers/, true],
  [Object.assign(new AggregateError([]), { code: 'ECONNREFUSED' }), /nothing answers/, true],
  [withCode('ENOTFOUND'), /host name is not known/, true],
  [withCode('EAI_AGAIN'), /host name is not known/, true],
  [withCode('ENOENT'), /its socket is not there/, true],
  [withCode('ECONNRESET'), /^it cannot be reached$/, true],
  [withCode('ERR_TLS_CERT_ALTNAME_INVALID'), /for another host name/, false],
  [withCode('SELF_SIGNED_CERT_IN_CHAIN'), /not trusted.+sslrootcert/, false],
  [withCode('DEPTH_ZERO_SELF_SIGNED_CERT'), /not trusted.+sslrootcert/, false],
  [withCode('UNABLE_TO_VERIFY_LEAF_SIGNATURE'), /not trusted.+sslrootcert/, false],
  [withCode('CERT_HAS_EXPIRED'), /not trusted/, false],
  [new Error('The server does not support SSL connections'), /does not encrypt/, false],
  [
    new Error('SASL: SCRAM-SERVER-FIRST-MESSAGE: client password must be a string'),
    /wants a password.+PGPASSWORD/,
    false,
  ],
])('%s explains what to do', (error, meaning, passing) => {
  expect(diagnose(error)).toMatchObject({ meaning: expect.stringMatching(meaning), passing });
  expect(storeError(error)).toMatchObject({ code: 'unavailable', cause: error });
});

test('an unknown fatal error of the server means a refused connection', () => {
  const error = Object.assign(serverError('42704'), { severity: 'FATAL' });
  expect(diagnose(error)).toMatchObject({ meaning: 'it refuses the connection', passing: false });
  expect(diagnose(serverError('42704'))).toMatchObject({ meaning: undefined });
  const password = Object.assign(serverError('28P01'), { severity: 'FATAL' });
  expect(diagnose(password).meaning).toMatch(/password/);
});

test.each([
  ['a mistake of types', new TypeError('x is undefined')],
  ['a mistake of ranges', new RangeError('too deep')],
  ['no error at all', 'words'],
  ['nothing', undefined],
])('%s is a bug and is passed on', (_what, error) => {
  expect(diagnose(error)).toEqual(unknown);
  expect(storeError(error)).toBe(error);
});

test.each([
  ['of the port', new CallerStatsError('not_found', 'There is no project docs.')],
  ['of the server without a state', new pg.DatabaseError('words', 0, 'error')],
])('an error %s is passed on', (_what, error) => {
  expect(storeError(error)).toBe(error);
});

test('recognizes conflicts and damage by their states', () => {
  const states = ['23505', '23503', 'XX001', 'XX002', 'XX000'];
  expect(states.map((state) => isConflict(serverError(state)))).toEqual([true, false, false, false, false]);
  expect(states.map((state) => isDamage(serverError(state)))).toEqual([false, false, true, true, false]);
  expect(isConflict(Object.assign(new Error('words'), { code: '23505' }))).toBe(false);
  expect(isDamage(Object.assign(new Error('words'), { code: 'XX001' }))).toBe(false);
});
