/**
 * `npx tsx scripts/test-on-node.ts 22 --project unit` runs tests on another version of Node, from the npm package `node`.
 * Arguments after the version go to the test runner; without them, all tests run.
 */
import { execFileSync, spawnSync } from 'node:child_process';

const [version = '', ...args] = process.argv.slice(2);
if (!/^\d+(\.\d+){0,2}$/.test(version)) {
  process.stderr.write('Which Node? As in: npx tsx scripts/test-on-node.ts 22 --project unit\n');
  process.exit(2);
}
const node = ['exec', '--yes', `--package=node@${version}`, '--'];
process.stdout.write(`Node ${execFileSync('npm', [...node, 'node', '--version'], { encoding: 'utf8' })}`);
const { status } = spawnSync('npm', [...node, 'node', 'node_modules/vitest/vitest.mjs', 'run', ...args], {
  stdio: 'inherit',
});
process.exit(status ?? 1);
