/** Builds the dashboard into `dist/dashboard`, and serves it while it is worked on. */
import { fileURLToPath } from 'node:url';
import react from '@vitejs/plugin-react';
import { defineConfig } from 'vite';
import { precompress } from '../scripts/precompress.js';

const output = fileURLToPath(new URL('../dist/dashboard', import.meta.url));

/** The server of `npm start`: what pages under `vite dev` ask for their data. */
const server = 'http://127.0.0.1:4000';

// Whatever the shell or a test runner says, what is built is what users get, and never React's build for developers.
if (process.argv.includes('build')) process.env['NODE_ENV'] = 'production';

export default defineConfig({
  plugins: [react(), { name: 'precompress', apply: 'build', closeBundle: () => precompress(output) }],
  experimental: {
    // What a script loads lies beside it, wherever that is; the server says in the page where the first ones are.
    renderBuiltUrl: (_file, { hostType }) => (hostType === 'html' ? undefined : { relative: true }),
  },
  build: {
    outDir: output,
    emptyOutDir: true,
    target: 'baseline-widely-available',
    // Nothing inline: the Content-Security-Policy lets only files of this origin in.
    assetsInlineLimit: 0,
    // One small file, in one order: parts that share looks must not depend on which page came first.
    cssCodeSplit: false,
    modulePreload: { polyfill: false },
    rolldownOptions: {
      output: {
        // What only an upgrade of a library changes is a file of its own, which browsers keep.
        codeSplitting: {
          groups: [
            {
              name: 'vendor',
              test: /node_modules\/(react|react-dom|scheduler|@tanstack|wouter|regexparam|use-sync)/,
            },
          ],
        },
      },
      // React packages mark their files for server components, which this is not.
      onwarn: (warning, warn) => {
        if (warning.code !== 'MODULE_LEVEL_DIRECTIVE') warn(warning);
      },
    },
  },
  server: { proxy: { '/api': server, '/v1': server } },
});
