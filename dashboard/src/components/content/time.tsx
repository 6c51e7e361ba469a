/** A relative time such as `5 minutes ago`; hover or focus shows the exact time. */
import { useId, useRef } from 'react';
import { exact } from '../../format/dates.js';
import { relative } from '../../format/relative.js';
import { useNow } from '../../time/use-now.js';
import './time.css';

export function Time({ at }: { at: string }) {
  const id = useId();
  const button = useRef<HTMLButtonElement>(null);
  const tip = useRef<HTMLSpanElement>(null);
  const now = useNow();

  const show = (): void => {
    if (tip.current === null || button.current === null) return;
    tip.current.showPopover();
    const rect = button.current.getBoundingClientRect();
    const left = Math.min(rect.left, document.documentElement.clientWidth - tip.current.offsetWidth - 8);
    tip.current.style.left = `${Math.max(8, left)}px`;
    tip.current.style.top = `${rect.top - tip.current.offsetHeight - 6}px`;
  };
  const hide = (): void => tip.current?.hidePopover();

  return (
    <>
      <button
        ref={button}
        type="button"
        className="time"
        aria-describedby={id}
        onPointerEnter={show}
        onPointerLeave={hide}
        onFocus={show}
        onBlur={hide}
        onKeyDown={(event) => event.key === 'Escape' && hide()}
      >
        <time dateTime={at}>{relative(Date.parse(at), now)}</time>
      </button>
      <span ref={tip} id={id} className="time-exact" role="tooltip" popover="manual">
        {exact(at)}
      </span>
    </>
  );
}
