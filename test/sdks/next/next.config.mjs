export default {
  outputFileTracingRoot: new URL('..', import.meta.url).pathname,
  turbopack: { root: new URL('..', import.meta.url).pathname },
};
