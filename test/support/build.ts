import { execFileSync } from 'node:child_process';

/** Builds what the tests start as threads and processes, so that no test ever runs yesterday's code. */
export default function build(): void {
  execFileSync('npm', ['run', '--silent', 'build'], { stdio: 'inherit' });
}
