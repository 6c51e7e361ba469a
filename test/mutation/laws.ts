/** Laws in mutation runs: the same values each time, so that a mutant is killed always or never; the first failure is enough. */
import fc from 'fast-check';

fc.configureGlobal({ seed: 20261121, endOnFailure: true });
