/** Runs before the first paint, so that the theme does not flash. Reads what `src/preferences/theme.ts` stores. */
try {
  const theme = localStorage.getItem('caller-stats.theme');
  if (theme === 'light' || theme === 'dark') document.documentElement.dataset.theme = theme;
} catch {
  // Storage is disabled: use the system's theme.
}
