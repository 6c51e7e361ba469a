/** Short words about what has just happened, that go away by themselves. */
import { Check, CircleAlert } from 'lucide-react';
import { useEffect, useRef, useSyncExternalStore } from 'react';
import './toasts.css';

type Kind = 'good' | 'danger';

interface Toast {
  readonly id: number;
  readonly text: string;
  readonly kind: Kind;
}

/** Long enough to be read twice; what failed stays longer. */
const shownMs: Readonly<Record<Kind, number>> = { good: 4_000, danger: 9_000 };

let toasts: readonly Toast[] = [];
let nextId = 1;
const listeners = new Set<() => void>();

function show(next: readonly Toast[]): void {
  toasts = next;
  for (const listener of listeners) listener();
}

/** Says that something is done, or that it did not work. The same words twice are shown once. */
export function toast(text: string, kind: Kind = 'good'): void {
  const id = nextId;
  nextId += 1;
  show([...toasts.filter((one) => one.text !== text), { id, text, kind }].slice(-3));
  setTimeout(() => show(toasts.filter((one) => one.id !== id)), shownMs[kind]);
}

/** Where they appear: once, in the frame of every page. */
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
    // Shown anew each time, so that it lies above a dialog that was opened since.
    if (region.current?.matches(':popover-open')) region.current.hidePopover();
    if (shown.length > 0) region.current?.showPopover();
  }, [shown]);

  return (
    <div ref={region} className="toasts" popover="manual" role="status" aria-live="polite">
      {shown.map(({ id, text, kind }) => (
        <div key={id} className={`toast toast-${kind}`}>
          {kind === 'good' ? <Check aria-hidden /> : <CircleAlert aria-hidden />}
          {text}
        </div>
      ))}
    </div>
  );
}
