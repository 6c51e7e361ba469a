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
    const element = region.current;
    // It is there before it says anything: what only then appeared would not be read out. A dialog that was opened since
    // covers it until it is shown anew.
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
