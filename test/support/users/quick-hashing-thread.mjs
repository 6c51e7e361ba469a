/** The built thread for passwords, with cheap hashes unless a test wants the real ones. */
if (process.env['CALLER_STATS_TEST_FULL_HASHES'] === undefined) await import('./quick-passwords.mjs');
await import('../../../dist/hashing-thread.js');
