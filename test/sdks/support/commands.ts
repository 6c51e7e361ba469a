import { runCommand } from '../../support/cli/cli.js';
import { installTimeoutMs } from '../../support/install-packages.js';

/** Runs a tool of this machine, which has the time to install or build something. Fails with its name if it is not there. */
export async function run(command: string, args: readonly string[], cwd: string): Promise<void> {
  const env = Object.fromEntries(
    ['HOME', 'GOCACHE', 'GOMODCACHE', 'GOPROXY', 'GOFLAGS', 'JAVA_HOME'].flatMap((name) => {
      const value = process.env[name];
      return value === undefined ? [] : [[name, value]];
    }),
  );
  const { status, stdout, stderr } = await runCommand(command, args, {
    cwd,
    env,
    hangMs: installTimeoutMs,
  }).catch((error: Error) => ({ status: 1, stdout: '', stderr: error.message }));
  if (status !== 0) throw new Error(`${command} ${args.join(' ')}: ${stdout}${stderr}`);
}
