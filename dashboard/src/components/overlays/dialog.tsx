/** A dialog on the platform's own `<dialog>`: it keeps the focus inside, and gives it back where it came from. */
import { X } from 'lucide-react';
import { type ReactNode, useId, useLayoutEffect, useRef } from 'react';
import { IconButton } from '../forms/button.js';
import './dialog.css';

interface DialogProps {
  readonly title: string;
  /** Called when the user wants it gone: the parent then stops rendering it. */
  readonly onClose: () => void;
  /** False: only a button of its own closes it, neither Escape nor a click beside it. */
  readonly dismissible?: boolean;
  readonly wide?: boolean;
  readonly children: ReactNode;
}

/** Open as long as it is rendered. */
export function Dialog({ title, onClose, dismissible = true, wide = false, children }: DialogProps) {
  const dialog = useRef<HTMLDialogElement>(null);
  const titleId = useId();

  useLayoutEffect(() => {
    const element = dialog.current;
    const opener = document.activeElement;
    element?.showModal();
    // Whoever opened a form came to fill it in; of everything else the title is read first.
    element?.querySelector<HTMLElement>('.input')?.focus();
    return () => {
      element?.close();
      // Taken out of the document in the same breath, the dialog does not give the focus back itself.
      queueMicrotask(() => focusBack(opener));
    };
  }, []);

  return (
    <dialog
      ref={dialog}
      className={wide ? 'dialog dialog-wide' : 'dialog'}
      aria-labelledby={titleId}
      onCancel={(event) => {
        // A cancelled file or select inside of it arrives here too.
        if (event.target !== dialog.current) return;
        event.preventDefault();
        if (dismissible) onClose();
      }}
      onClose={(event) => {
        // Browsers close a dialog on a second Escape whatever the page says.
        if (event.target === dialog.current && dialog.current?.isConnected) {
          if (dismissible) onClose();
          else dialog.current.showModal();
        }
      }}
    >
      <div className="dialog-head">
        <h2 id={titleId} tabIndex={-1}>
          {title}
        </h2>
        {dismissible && <IconButton icon={X} label="Close" onClick={onClose} />}
      </div>
      <div className="dialog-body">{children}</div>
    </dialog>
  );
}

/** To what opened the dialog; where that is gone with what was done, to the page. */
function focusBack(opener: Element | null): void {
  const target = opener?.isConnected === true ? opener : document.querySelector('main');
  if (target instanceof HTMLElement) target.focus();
}

/** The buttons at the foot of a dialog; the last one is the one that does it. */
export function DialogButtons({ children }: { children: ReactNode }) {
  return <div className="dialog-buttons">{children}</div>;
}
