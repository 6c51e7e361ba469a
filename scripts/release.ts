/**
 * `npm run release -- 1.0.0` checks and tests this clone, writes the version and the date into its files, commits, and tags.
 * Then it says how to push. If a step fails, `git restore .` takes the changes back.
 */
import { execFileSync } from 'node:child_process';
import { fileURLToPath } from 'node:url';
import { prepareRelease, tagsOf } from './release/prepare.js';

const folder = fileURLToPath(new URL('..', import.meta.url));
const [version = ''] = process.argv.slice(2);
try {
  prepareRelease({
    folder,
    version,
    date: new Date().toISOString().slice(0, 10),
    run: (program, ...args) => {
      process.stdout.write(`$ ${program} ${args.join(' ')}\n`);
      return execFileSync(program, args, {
        cwd: folder,
        encoding: 'utf8',
        stdio: ['ignore', 'pipe', 'inherit'],
      });
    },
  });
  process.stdout.write(
    `Tagged ${version}. To release it:\n\n  git push --atomic origin main ${tagsOf(version).join(' ')}\n`,
  );
} catch (error) {
  process.stderr.write(`${error instanceof Error ? error.message : String(error)}\n`);
  process.exitCode = 1;
}
