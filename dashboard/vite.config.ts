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

/** The modules that the layout and the overview share with other pages. */
const firstView =
  /dashboard\/src\/(navigation|preferences|time|layout\/(?!shortcuts-dialog)|format\/(?!snippets|user-agent|project-id|files|save-file)|api\/(client|query-client|session|projects|stats)\.ts|chart\/(drawing|labels|layout)|pages\/overview\/(numbers-view|tiles|time-card|updated|use-numbers|toolbar\/(toolbar|range-picker|zone-picker|choice-name))|components\/(feedback|content\/(copy\.ts|docs-link|page|change)|forms\/button|overlays\/(menu|picker|use-popover)))|lucide-react\/dist\/esm\/icons\/(x|arrow-(up|down))\.|src\/domain\/(queries\/caller|projects\/samples|people\/member)\.ts/;

/** The code that most visits need first: the browser loads it together with the app, not after it. */
const preloadOverview: Plugin = {
  name: 'preload-overview',
  apply: 'build',
  transformIndexHtml: {
    order: 'post',
    handler: (_html, { bundle = {} }) =>
      Object.keys(bundle)
        .filter((file) => /\/(overview-page|chart)-[^/]*\.js$/.test(file))
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
    preloadOverview,
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
            },
            // What the first view needs besides its page, in one file: each file takes a request, and browsers have six
            // connections.
            { name: 'app', test: firstView },
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
