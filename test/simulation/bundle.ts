/**
 * Bundles the product's modules into a function that takes the globals and the modules of Node as arguments. Limits are scaled
 * down, so that a few hundred events reach them. A planted bug replaces one exact text of one source file.
 */
import { createRequire } from 'node:module';
import { join } from 'node:path';
import { fileURLToPath } from 'node:url';
import { compileFunction } from 'node:vm';
import { build } from 'vite';
import { type Replacement, replaceOnce } from '../support/setup/planted.js';

/** What `product.ts` exports. */
export type Product = typeof import('./product.js');

/** The globals of the product, and `require` for the modules of Node. Everything else is that of the test's process. */
export interface Globals {
  readonly require: (name: string) => unknown;
  readonly globalThis: object;
  readonly Date: DateConstructor;
  readonly Math: Math;
  readonly fetch: (url: string, init: RequestInit) => Promise<Response>;
  readonly setTimeout: (run: () => void, ms: number) => unknown;
  readonly clearTimeout: (timer: unknown) => void;
  readonly setInterval: (run: () => void, ms: number) => unknown;
  readonly clearInterval: (timer: unknown) => void;
  readonly setImmediate: (run: () => void) => unknown;
  readonly crypto: { readonly randomUUID: () => string };
  readonly console: { readonly warn: (message: string) => void };
  /** Undefined: compression runs on threads, whose order no seed determines. */
  readonly CompressionStream: undefined;
}

/** Starts the product in a simulated process. */
export type StartProduct = (globals: Globals) => Product;

const names: readonly (keyof Globals)[] = [
  'require',
  'globalThis',
  'Date',
  'Math',
  'fetch',
  'setTimeout',
  'clearTimeout',
  'setInterval',
  'clearInterval',
  'setImmediate',
  'crypto',
  'console',
  'CompressionStream',
];

const root = fileURLToPath(new URL('../..', import.meta.url));
const limitsFile = 'src/domain/limits.ts';
const paceFile = 'src/http/admission/paced-queue.ts';

const smallLimits: readonly Replacement[] = [
  { file: limitsFile, text: 'commitQueriesMax = 20_000;', by: 'commitQueriesMax = 8;' },
  { file: limitsFile, text: 'pendingQueriesMax = 200_000;', by: 'pendingQueriesMax = 12;' },
  { file: limitsFile, text: 'pendingOperationsMax = 20_000;', by: 'pendingOperationsMax = 4;' },
  { file: limitsFile, text: 'correctionStepQueriesMax = 1_000;', by: 'correctionStepQueriesMax = 2;' },
  { file: paceFile, text: 'count: 32, bytes: 64 * 1024', by: 'count: 2, bytes: 512' },
  { file: paceFile, text: 'count: 2, bytes: 0,', by: 'count: 1, bytes: 0,' },
  { file: 'clients/javascript/src/spool.ts', text: 'settledMax = 10_000;', by: 'settledMax = 4;' },
];

const requireHere = createRequire(import.meta.url);
const loaded = new Map<string, unknown>();

/** Modules outside of the bundle that the simulation does not replace, such as `node:stream`. */
export function requireReal(name: string): unknown {
  const known = loaded.get(name) ?? requireHere(name);
  loaded.set(name, known);
  return known;
}

/** Throws if a text is not in its file, or more than once. */
export async function bundleProduct(replacements: readonly Replacement[] = []): Promise<StartProduct> {
  const left = new Set([...smallLimits, ...replacements]);
  const result = await build({
    root,
    configFile: false,
    logLevel: 'silent',
    publicDir: false,
    build: {
      ssr: join(root, 'test/simulation/product.ts'),
      write: false,
      minify: false,
      target: 'node20',
      rolldownOptions: { output: { format: 'cjs' } },
    },
    plugins: [
      {
        name: 'replacements',
        enforce: 'pre',
        transform: (code, id) => {
          const own = [...left].filter(({ file }) => id === join(root, file));
          for (const one of own) left.delete(one);
          return own.reduce(replaceOnce, code);
        },
      },
    ],
  });
  const [missing] = left;
  if (missing !== undefined) throw new Error(`${missing.file} is not part of the simulation`);
  const code = outputOf(result);
  const start = compileFunction(code, ['exports', ...names], { filename: 'simulated-product.cjs' });
  return (globals) => {
    const exports = {};
    start(exports, ...names.map((name) => globals[name]));
    return exports as Product;
  };
}

function outputOf(result: Awaited<ReturnType<typeof build>>): string {
  const [first] = Array.isArray(result) ? result : [result];
  if (first === undefined || !('output' in first)) throw new Error('the bundler has no output');
  return first.output[0].code;
}
