/** Connects keyboard shortcuts with components. */
import { useEffectEvent, useLayoutEffect, useSyncExternalStore } from 'react';
import { recall, remember } from '../preferences/local-storage.js';
import { type Shortcut, step, type Typed } from '../preferences/shortcuts.js';
import { now } from '../time/clock.js';

const handlers = new Map<Shortcut, () => void>();
const listeners = new Set<() => void>();
let pending: Typed | null = null;

/** Runs a function on a shortcut while the component is mounted. */
export function useShortcut(shortcut: Shortcut, handler: () => void): void {
  const handle = useEffectEvent(handler);
  // A layout effect: keys typed right after the first paint must not be lost.
  useLayoutEffect(() => {
    const own = (): void => handle();
    handlers.set(shortcut, own);
    return () => {
      if (handlers.get(shortcut) === own) handlers.delete(shortcut);
    };
  }, [shortcut]);
}

/** Listens to the keyboard. Used once, in the layout. */
export function useShortcutKeys(): void {
  useLayoutEffect(() => {
    addEventListener('keydown', onKeyDown);
    return () => removeEventListener('keydown', onKeyDown);
  }, []);
}

/** Single-letter shortcuts conflict with speech input, so users can turn them off (WCAG 2.1.4). */
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

/** Shortcuts do not apply in text fields or behind an open dialog or menu. */
function isTyping(target: EventTarget | null): boolean {
  if (document.querySelector('dialog[open], [popover="auto"]:popover-open') !== null) return true;
  // The search field of a closed picker keeps the focus for a moment.
  if (!(target instanceof HTMLElement) || !target.checkVisibility()) return false;
  return target.isContentEditable || target.matches('input:not([type="range"]), textarea, select');
}
