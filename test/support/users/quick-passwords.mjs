/**
 * Makes password hashing 64 times cheaper for a program that loads this first, because the tests hash thousands of
 * passwords. Node loads it into the program's threads as well. `test/program/sign-in/password-cost.test.ts` checks the real cost.
 */
import crypto from 'node:crypto';
import { syncBuiltinESMExports } from 'node:module';

const { scryptSync } = crypto;

crypto.scryptSync = (password, salt, keyBytes, options) =>
  scryptSync(password, salt, keyBytes, { ...options, N: options.N / 64 });
syncBuiltinESMExports();
