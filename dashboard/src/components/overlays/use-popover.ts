/** A panel below a button, on the platform's own popovers: it lies above everything and goes away by itself. */
import { type RefObject, useCallback, useEffectEvent, useId, useLayoutEffect, useRef, useState } from 'react';
import { flushSync } from 'react-dom';

/** Space to the button and to the edges of the screen. */
const gapPx = 6;
const edgePx = 8;

export interface Popover {
  readonly isOpen: boolean;
  readonly open: () => void;
  readonly close: () => void;
  readonly trigger: RefObject<HTMLButtonElement | null>;
  readonly panel: RefObject<HTMLDivElement | null>;
  readonly triggerProps: {
    readonly ref: RefObject<HTMLButtonElement | null>;
    readonly popoverTarget: string;
    readonly 'aria-expanded': boolean;
    readonly 'aria-controls': string;
  };
  readonly panelProps: {
    readonly ref: RefObject<HTMLDivElement | null>;
    readonly id: string;
    readonly popover: 'auto';
    readonly onBeforeToggle: (event: { readonly newState: string }) => void;
    readonly onToggle: (event: { readonly newState: string }) => void;
  };
}

interface PopoverOptions {
  /** Which edges of button and panel lie above each other. */
  readonly align?: 'start' | 'end';
  /** What in the panel gets the focus. The platform gives it as it shows the panel, so that no key is lost between. */
  readonly focus?: (panel: HTMLElement) => HTMLElement | null | undefined;
}

/** The button and the panel are bound by spreading `triggerProps` and `panelProps`. */
export function usePopover({ align = 'start', focus }: PopoverOptions = {}): Popover {
  const id = useId();
  const [isOpen, setOpen] = useState(false);
  const trigger = useRef<HTMLButtonElement>(null);
  const panel = useRef<HTMLDivElement>(null);
  const markFocus = useEffectEvent((element: HTMLElement) => {
    element.querySelector('[autofocus]')?.removeAttribute('autofocus');
    focus?.(element)?.setAttribute('autofocus', '');
  });
  const open = useCallback(() => panel.current?.showPopover(), []);
  const close = useCallback(() => {
    panel.current?.hidePopover();
    trigger.current?.focus();
  }, []);

  useLayoutEffect(() => {
    if (!isOpen) return;
    if (panel.current !== null) markFocus(panel.current);
    const place = (): void => {
      if (trigger.current !== null && panel.current !== null) put(panel.current, trigger.current, align);
    };
    // The platform shows the panel after this, but before the next picture: only then it has a size.
    const frame = requestAnimationFrame(place);
    addEventListener('resize', place);
    addEventListener('scroll', place, { capture: true, passive: true });
    return () => {
      cancelAnimationFrame(frame);
      removeEventListener('resize', place);
      removeEventListener('scroll', place, { capture: true });
    };
  }, [isOpen, align]);

  return {
    isOpen,
    open,
    close,
    trigger,
    panel,
    triggerProps: { ref: trigger, popoverTarget: id, 'aria-expanded': isOpen, 'aria-controls': id },
    panelProps: {
      ref: panel,
      id,
      popover: 'auto',
      onBeforeToggle: ({ newState }) => {
        // What is in the panel has to be there by the time that the platform looks for what gets the focus.
        if (newState === 'open') flushSync(() => setOpen(true));
      },
      // Not before it is gone: only from something that is still there the focus goes back to the button.
      onToggle: ({ newState }) => {
        if (newState === 'closed') setOpen(false);
      },
    },
  };
}

/** Below the button, or above it where there is more room; never past the edges of the screen. */
function put(panel: HTMLElement, trigger: HTMLElement, align: 'start' | 'end'): void {
  const button = trigger.getBoundingClientRect();
  const below = innerHeight - button.bottom - gapPx - edgePx;
  const above = button.top - gapPx - edgePx;
  const isBelow = below >= Math.min(panel.scrollHeight, 320) || below >= above;
  const width = panel.offsetWidth;
  const wanted = align === 'start' ? button.left : button.right - width;
  const left = Math.max(edgePx, Math.min(wanted, document.documentElement.clientWidth - width - edgePx));
  panel.style.left = `${left}px`;
  panel.style.maxHeight = `${Math.max(isBelow ? below : above, 120)}px`;
  panel.style.top = isBelow ? `${button.bottom + gapPx}px` : 'auto';
  panel.style.bottom = isBelow ? 'auto' : `${innerHeight - button.top + gapPx}px`;
}
