/** Builds the dashboard into `dist/dashboard`, and serves it during development. */
import { fileURLToPath } from 'node:url';
import react from '@vitejs/plugin-react';
import { defineConfig } from 'vite';
import { precompress } from '../scripts/precompress.js';

const output = fileURLToPath(new URL('../dist/dashboard', import.meta.url));

/** The server started by `npm start`, to which `vite dev` forwards API requests. */
const server = 'http://127.0.0.1:4000';

// Always build for production, whatever NODE_ENV the shell or a test runner sets.
if (process.argv.includes('build')) process.env['NODE_ENV'] = 'production';

export default defineConfig({
  plugins: [react(), { name: 'precompress', apply: 'build', closeBundle: () => precompress(output) }],
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
        // Libraries go into their own file, which stays cached until one of them is upgraded.
        codeSplitting: {
          groups: [
            {
              name: 'vendor',
              test: /node_modules\/(react|react-dom|scheduler|@tanstack|wouter|regexparam|use-sync)/,
            },
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
