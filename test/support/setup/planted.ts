import { build } from 'vite';

/** A bug that is planted in the product, to see that a test finds it. The product has no switches for tests. */
export interface Replacement {
  /** From the project's root. */
  readonly file: string;
  /** Must be in the file exactly once. */
  readonly text: string;
  readonly by: string;
}

/** Throws if the text is not in the code, or more than once. */
export function replaceOnce(code: string, { file, text, by }: Replacement): string {
  const parts = code.split(text);
  if (parts.length !== 2)
    throw new Error(`${file} contains this text ${parts.length - 1} times, not once: ${text}`);
  return parts.join(by);
}

/** The name of the variable with the bugs that a run of the tests has, as JSON. */
export const PLANTED = 'CALLER_STATS_TEST_PLANTED';

/** Plants bugs in what is loaded, as a plugin of Vite. */
export function plant(root: string, bugs: readonly Replacement[]) {
  return {
    name: 'planted-bugs',
    enforce: 'pre' as const,
    transform: (code: string, id: string) =>
      bugs.filter(({ file }) => id === `${root}/${file}`).reduce(replaceOnce, code),
  };
}

/** Builds the thread that writes to SQLite, which tests start from its built file. Returns the file, from the project's root. */
export async function buildPlantedThread(root: string, bugs: readonly Replacement[]): Promise<string> {
  const folder = 'dist/planted';
  await build({
    root,
    configFile: false,
    logLevel: 'warn',
    publicDir: false,
    plugins: [plant(root, bugs)],
    build: {
      ssr: `${root}/src/storage/sqlite/writer/writer-thread.ts`,
      target: 'node20',
      outDir: folder,
      rolldownOptions: { output: { entryFileNames: 'writer-thread.js', inlineDynamicImports: true } },
    },
  });
  return `${folder}/writer-thread.js`;
}
