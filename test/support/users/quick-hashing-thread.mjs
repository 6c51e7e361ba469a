/** The built thread for passwords, with cheap hashes. */
import './quick-passwords.mjs';

await import('../../../dist/hashing-thread.cjs');
