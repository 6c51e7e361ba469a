/** A panel below a button, based on the popover API: shown on top of everything and closed by a click outside. */
import { type RefObject, useCallback, useEffectEvent, useId, useLayoutEffect, useRef, useState } from 'react';
import { flushSync } from 'react-dom';

/** Distance to the button and to the edges of the screen. */
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
  /** Which edges of button and panel are aligned. */
  readonly align?: 'start' | 'end';
  /** The element that gets the focus. The browser sets it as it shows the panel, so that no keystroke is lost. */
  readonly focus?: (panel: HTMLElement) => HTMLElement | null | undefined;
}

/** Spread `triggerProps` on the button and `panelProps` on the panel. */
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
    const updatePosition = (): void => {
      if (trigger.current !== null && panel.current !== null) put(panel.current, trigger.current, align);
    };
    // The panel has no size yet: the browser shows it after this event, but before the next frame.
    const frame = requestAnimationFrame(updatePosition);
    addEventListener('resize', updatePosition);
    addEventListener('scroll', updatePosition, { capture: true, passive: true });
    return () => {
      cancelAnimationFrame(frame);
      removeEventListener('resize', updatePosition);
      removeEventListener('scroll', updatePosition, { capture: true });
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
        // Render the content now: the browser looks for the element to focus right after this event.
        if (newState === 'open') flushSync(() => setOpen(true));
      },
      // Not earlier: the focus returns to the button only if the focused element still exists.
      onToggle: ({ newState }) => {
        if (newState === 'closed') setOpen(false);
      },
    },
  };
}

/** Places the panel below the button, or above it if there is more room, and keeps it on the screen. */
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
