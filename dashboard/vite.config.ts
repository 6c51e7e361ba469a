/** Builds the dashboard into `dist/dashboard`, and serves it during development. */
import { fileURLToPath } from 'node:url';
import react from '@vitejs/plugin-react';
import { defineConfig, type Plugin } from 'vite';
import { precompress } from '../scripts/precompress.js';

const output = fileURLToPath(new URL('../dist/dashboard', import.meta.url));

/** The server started by `npm start`, to which `vite dev` forwards API requests. */
const server = 'http://127.0.0.1:4000';

// Always build for production, whatever NODE_ENV the shell or a test runner sets.
if (process.argv.includes('build')) process.env['NODE_ENV'] = 'production';

const source = (file: string): string => fileURLToPath(new URL(`src/${file}`, import.meta.url));

interface Modules {
  getModuleInfo(id: string): { readonly importedIds: readonly string[] } | null;
}

/** What a module imports, directly and indirectly, without packages and what it loads on demand. */
function importedBy(id: string, modules: Modules, found = new Set<string>()): ReadonlySet<string> {
  if (found.has(id) || id.includes('/node_modules/')) return found;
  found.add(id);
  for (const one of modules.getModuleInfo(id)?.importedIds ?? []) importedBy(one, modules, found);
  return found;
}

/** A file with all that a module imports: each file takes a request, and browsers have six connections. */
function fileFor(module: string, name: string) {
  const has = (id: string, modules: Modules) => importedBy(source(module), modules).has(id);
  return { debugName: name, name: (id: string, modules: Modules) => (has(id, modules) ? name : null) };
}

/** The browser loads the code of the app at once, not after the script that imports it. */
const preloadApp: Plugin = {
  name: 'preload-app',
  apply: 'build',
  transformIndexHtml: {
    order: 'post',
    handler: (_html, { bundle = {} }) =>
      Object.keys(bundle)
        .filter((file) => /\/(vendor|app|rolldown-runtime)-[^/]*\.js$/.test(file))
        .map((file) => ({
          tag: 'link',
          attrs: { rel: 'modulepreload', crossorigin: true, href: `/${file}` },
          injectTo: 'head' as const,
        })),
  },
};

export default defineConfig({
  plugins: [
    react(),
    preloadApp,
    { name: 'precompress', apply: 'build', closeBundle: () => precompress(output) },
  ],
  experimental: {
    // Scripts load their imports relative to themselves; the server writes the base path into the page.
    renderBuiltUrl: (_file, { hostType }) => (hostType === 'html' ? undefined : { relative: true }),
  },
  build: {
    outDir: output,
    emptyOutDir: true,
    target: 'baseline-widely-available',
    // No inlined assets: the Content-Security-Policy allows only files from this origin.
    assetsInlineLimit: 0,
    // One CSS file, so that the order of rules does not depend on which page loads first.
    cssCodeSplit: false,
    modulePreload: { polyfill: false },
    rolldownOptions: {
      output: {
        // The first view loads a list of all files: shorter names make it smaller.
        chunkFileNames: 'assets/[name]-[hash:7].js',
        // Libraries go into their own file, which stays cached until one of them is upgraded.
        codeSplitting: {
          groups: [
            {
              name: 'vendor',
              test: /node_modules\/(react|react-dom|scheduler|@tanstack|wouter|regexparam|use-sync)/,
              priority: 2,
            },
            // The script that sends the first requests does not wait for the app.
            { ...fileFor('main.ts', 'index'), priority: 3 },
            { ...fileFor('start.tsx', 'app'), priority: 1 },
          ],
        },
      },
      // Ignore the `use client` directives of React packages.
      onwarn: (warning, warn) => {
        if (warning.code !== 'MODULE_LEVEL_DIRECTIVE') warn(warning);
      },
    },
  },
  server: { proxy: { '/api': server, '/v1': server } },
});
