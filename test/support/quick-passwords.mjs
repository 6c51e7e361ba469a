/**
 * Loaded before a program that hashes passwords: hashes are made as always, at a sixteenth of their cost. There are
 * thousands in the tests; `test/users/password-cost.test.ts` holds what the program itself asks for.
 */
import crypto from 'node:crypto';
import { syncBuiltinESMExports } from 'node:module';

const { scrypt } = crypto;
const cheaper = 16;

crypto.scrypt = (password, salt, keyBytes, options, done) =>
  scrypt(password, salt, keyBytes, { ...options, N: options.N / cheaper }, done);
syncBuiltinESMExports();
