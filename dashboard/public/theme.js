/** Runs before the first paint, so that a chosen theme does not flash. `src/preferences/theme.ts` writes what it reads. */
try {
  const theme = localStorage.getItem('caller-stats.theme');
  if (theme === 'light' || theme === 'dark') document.documentElement.dataset.theme = theme;
} catch {
  // Storage is turned off: the system's theme stays.
}
