/** Runs before the first paint and before the app has loaded. */

// The theme, so that it does not flash. Reads what `src/preferences/theme.ts` stores.
try {
  const theme = localStorage.getItem('caller-stats.theme');
  if (theme === 'light' || theme === 'dark') document.documentElement.dataset.theme = theme;
} catch {
  // Storage is disabled: use the system's theme.
}

// The first requests of the app, while its code is loading. `src/api/early.ts` takes the responses.
{
  const base = document.querySelector('meta[name="base-path"]')?.content ?? '';
  const early = new Map();
  globalThis.callerStatsEarly = early;
  const ask = (path) => {
    const response = fetch(base + path, { headers: { accept: 'application/json' } });
    // The app asks again.
    void response.catch(() => early.delete(path));
    early.set(path, response);
    return response;
  };
  const isProject = location.pathname.startsWith(`${base}/projects/`) || location.pathname === `${base}/`;
  if (isProject)
    void ask('/api/session')
      .then((response) => response.clone().json())
      .then(({ organizations: [one, ...others] }) => {
        if (one !== undefined && others.length === 0) void ask(`/api/organizations/${one.id}/projects`);
      })
      .catch(() => {});
}
