/**
 * Runs before the first paint, so that the theme does not flash. A page that embeds a share link names the theme in the
 * address; else it is what `src/preferences/theme.ts` stores.
 */
try {
  const named = location.pathname.includes('/share/') && new URLSearchParams(location.search).get('theme');
  const theme = named || localStorage.getItem('caller-stats.theme');
  if (theme === 'light' || theme === 'dark') document.documentElement.dataset.theme = theme;
} catch {
  // Storage is disabled: use the system's theme.
}
