/**
 * Makes password hashing 1,024 times cheaper for a program that loads this first, because the tests hash thousands of
 * passwords. Node loads it into the program's threads as well. `test/program/sign-in/password-cost.test.ts` checks the real
 * cost, with passwords that begin with `at full cost`.
 */
import crypto from 'node:crypto';
import { syncBuiltinESMExports } from 'node:module';

const { scryptSync } = crypto;

crypto.scryptSync = (password, salt, keyBytes, options) => {
  const cheaper = String(password).startsWith('at full cost') ? 1 : 1024;
  return scryptSync(password, salt, keyBytes, { ...options, N: options.N / cheaper });
};
syncBuiltinESMExports();
