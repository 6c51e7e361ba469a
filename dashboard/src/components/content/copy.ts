/** Copies text to the clipboard. */
import { toast } from '../feedback/toasts.js';

/** Copies, and says whether it worked. For buttons that disappear when they are pressed, such as items of menus. */
export async function copyWithToast(text: string): Promise<void> {
  if (await copyText(text)) toast('Copied');
  else reportNotCopied();
}

export function reportNotCopied(): void {
  toast('The browser did not let it be copied: select the text and copy it.', 'danger');
}

/** Returns false if the browser refuses; the user then has to select and copy the text. */
export async function copyText(text: string): Promise<boolean> {
  try {
    await navigator.clipboard.writeText(text);
    return true;
  } catch {
    return copyOldWay(text);
  }
}

/** The fallback for plain HTTP, where browsers offer no other clipboard API. */
function copyOldWay(text: string): boolean {
  const area = document.createElement('textarea');
  const focused = document.activeElement;
  area.value = text;
  area.className = 'out-of-sight';
  // Inside the open dialog: elements outside it cannot be selected.
  (focused?.closest('dialog') ?? document.body).append(area);
  area.select();
  const isCopied = document.execCommand('copy');
  area.remove();
  if (focused instanceof HTMLElement) focused.focus();
  return isCopied;
}
