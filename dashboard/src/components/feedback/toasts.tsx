/** Short messages that disappear by themselves. */
import { Check, CircleAlert } from 'lucide-react';
import { useEffect, useRef, useSyncExternalStore } from 'react';
import './toasts.css';

type Kind = 'good' | 'danger';

interface Toast {
  readonly id: number;
  readonly text: string;
  readonly kind: Kind;
}

/** Long enough to read twice; errors stay longer. */
const shownMs: Readonly<Record<Kind, number>> = { good: 4_000, danger: 9_000 };

let toasts: readonly Toast[] = [];
let nextId = 1;
const listeners = new Set<() => void>();

function show(next: readonly Toast[]): void {
  toasts = next;
  for (const listener of listeners) listener();
}

/** Shows a success or error message. Repeating a visible message has no effect. */
export function toast(text: string, kind: Kind = 'good'): void {
  const id = nextId;
  nextId += 1;
  show([...toasts.filter((one) => one.text !== text), { id, text, kind }].slice(-3));
  setTimeout(() => show(toasts.filter((one) => one.id !== id)), shownMs[kind]);
}

/** Where toasts appear; rendered once, in the layout. */
export function Toasts() {
  const region = useRef<HTMLDivElement>(null);
  const shown = useSyncExternalStore(
    (listener) => {
      listeners.add(listener);
      return () => listeners.delete(listener);
    },
    () => toasts,
  );

  useEffect(() => {
    const element = region.current;
    // The live region exists before the first message; otherwise screen readers would not announce it. Showing the
    // popover again lifts it above a dialog that was opened since.
    const isCovered = shown.length > 0 && document.querySelector('dialog[open]') !== null;
    if (isCovered && element?.matches(':popover-open') === true) element.hidePopover();
    if (element?.matches(':popover-open') === false) element.showPopover();
  }, [shown]);

  return (
    <div ref={region} className="toasts" popover="manual" role="status">
      {shown.map(({ id, text, kind }) => (
        <div key={id} className={`toast toast-${kind}`}>
          {kind === 'good' ? <Check aria-hidden /> : <CircleAlert aria-hidden />}
          {text}
        </div>
      ))}
    </div>
  );
}
