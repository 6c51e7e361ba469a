import { configureGlobal } from 'fast-check';

// Each test file runs this file: its properties begin with this seed, whichever files ran before.
const seed = process.env['CALLER_STATS_TEST_SEED'];
if (seed !== undefined) configureGlobal({ seed: Number(seed) });
