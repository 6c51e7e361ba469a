/** Which component does what when a shortcut is typed. */
import { useEffectEvent, useLayoutEffect, useSyncExternalStore } from 'react';
import { recall, remember } from '../preferences/local-storage.js';
import { type Shortcut, step, type Typed } from '../preferences/shortcuts.js';
import { now } from '../time/clock.js';

const handlers = new Map<Shortcut, () => void>();
const listeners = new Set<() => void>();
let pending: Typed | null = null;

/** Does something when a shortcut is typed, as long as the component is there. */
export function useShortcut(shortcut: Shortcut, handler: () => void): void {
  const handle = useEffectEvent(handler);
  // Before anybody sees the page: a key that is typed as soon as it is there would be lost.
  useLayoutEffect(() => {
    const own = (): void => handle();
    handlers.set(shortcut, own);
    return () => {
      if (handlers.get(shortcut) === own) handlers.delete(shortcut);
    };
  }, [shortcut]);
}

/** Listens to the keyboard. Once, in the frame. */
export function useShortcutKeys(): void {
  useLayoutEffect(() => {
    addEventListener('keydown', onKeyDown);
    return () => removeEventListener('keydown', onKeyDown);
  }, []);
}

/** Keys of one letter are in the way of speech input and stray fingers: they can be turned off. */
export function useShortcutsOn(): [boolean, (on: boolean) => void] {
  const isOn = useSyncExternalStore(
    (listener) => {
      listeners.add(listener);
      return () => listeners.delete(listener);
    },
    () => recall('shortcuts') !== 'off',
  );
  const set = (on: boolean): void => {
    remember('shortcuts', on ? null : 'off');
    for (const listener of listeners) listener();
  };
  return [isOn, set];
}

function onKeyDown(event: KeyboardEvent): void {
  if (event.ctrlKey || event.metaKey || event.altKey || event.defaultPrevented || event.isComposing) return;
  if (isTyping(event.target) || recall('shortcuts') === 'off') return;
  const next = step(pending, { key: event.key, at: now() });
  pending = next.pending;
  const handler = next.shortcut === null ? undefined : handlers.get(next.shortcut);
  if (handler === undefined) return;
  event.preventDefault();
  handler();
}

/** A field takes letters itself, and what is behind an open dialog or menu is out of reach. */
function isTyping(target: EventTarget | null): boolean {
  if (document.querySelector('dialog[open], [popover="auto"]:popover-open') !== null) return true;
  // A field of a list that has just been closed has the focus for a moment longer.
  if (!(target instanceof HTMLElement) || !target.checkVisibility()) return false;
  return target.isContentEditable || target.matches('input:not([type="range"]), textarea, select');
}
