/**
 * `npx tsx scripts/release/check.ts v1.0.0` exits with 1 and says why if this clone cannot become that release: its files must
 * have that version, and the changelog its changes. The release workflow begins with it.
 */
import { fileURLToPath } from 'node:url';
import { findVersionProblems } from './versions.js';

const [tag = ''] = process.argv.slice(2);
const problems = tag.startsWith('v')
  ? findVersionProblems(fileURLToPath(new URL('../..', import.meta.url)), tag.slice(1))
  : [`"${tag}" is not a tag such as v1.0.0.`];
process.stdout.write(
  problems.length === 0 ? `${tag}: all files have this version\n` : `${problems.join('\n')}\n`,
);
process.exitCode = problems.length === 0 ? 0 : 1;
