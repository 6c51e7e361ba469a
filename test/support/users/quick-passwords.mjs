/**
 * Makes password hashing 16 times cheaper for a program that loads this first, because the tests hash thousands of
 * passwords. `test/users/password-cost.test.ts` checks the real cost.
 */
import crypto from 'node:crypto';
import { syncBuiltinESMExports } from 'node:module';

const { scrypt } = crypto;

/** Divides the cost of all hashes from now on. */
export function dividePasswordCost(divisor) {
  crypto.scrypt = (password, salt, keyBytes, options, done) =>
    scrypt(password, salt, keyBytes, { ...options, N: options.N / divisor }, done);
  syncBuiltinESMExports();
}

dividePasswordCost(16);
