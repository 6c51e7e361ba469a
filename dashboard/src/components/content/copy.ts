/** Puts text on the clipboard. */

/** False where the browser refuses; then there is nothing to do but to select the text and copy it by hand. */
export async function copyText(text: string): Promise<boolean> {
  try {
    await navigator.clipboard.writeText(text);
    return true;
  } catch {
    return copyOldWay(text);
  }
}

/** Over plain HTTP, as on many a local network, browsers have no clipboard but this one. */
function copyOldWay(text: string): boolean {
  const area = document.createElement('textarea');
  const focused = document.activeElement;
  area.value = text;
  area.className = 'out-of-sight';
  // Inside an open dialog, where alone it can be selected.
  (focused?.closest('dialog') ?? document.body).append(area);
  area.select();
  const isCopied = document.execCommand('copy');
  area.remove();
  if (focused instanceof HTMLElement) focused.focus();
  return isCopied;
}
