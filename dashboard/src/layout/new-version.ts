/** After an upgrade of the server, an open page asks for files that are no longer there: it begins anew, once. */
export function reloadForNewVersion(): void {
  addEventListener('vite:preloadError', (event) => {
    const last = Number(sessionStorage.getItem('caller-stats.reloaded') ?? 0);
    // Were it to fail again right away, the page says so instead of reloading for ever.
    if (performance.timeOrigin - last < 10_000) return;
    event.preventDefault();
    sessionStorage.setItem('caller-stats.reloaded', String(performance.timeOrigin));
    location.reload();
  });
}
