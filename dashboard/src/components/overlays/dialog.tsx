/** A modal `<dialog>`, which traps the focus and restores it afterwards. */
import { X } from 'lucide-react';
import { type ReactNode, useId, useLayoutEffect, useRef } from 'react';
import { IconButton } from '../forms/button.js';
import './dialog.css';

interface DialogProps {
  readonly title: string;
  /** Called when the user dismisses the dialog; the parent must stop rendering it. */
  readonly onClose: () => void;
  /** If false, neither Escape nor a click outside closes the dialog. */
  readonly dismissible?: boolean | undefined;
  readonly wide?: boolean | undefined;
  readonly children: ReactNode;
}

/** Open while it is rendered. */
export function Dialog({ title, onClose, dismissible = true, wide = false, children }: DialogProps) {
  const dialog = useRef<HTMLDialogElement>(null);
  const titleId = useId();

  useLayoutEffect(() => {
    const element = dialog.current;
    const opener = document.activeElement;
    element?.showModal();
    // Focus the first field of a form; in other dialogs focus the title.
    element?.querySelector<HTMLElement>('.input')?.focus();
    return () => {
      element?.close();
      // A dialog that is removed from the document does not restore the focus itself.
      queueMicrotask(() => focusBack(opener));
    };
  }, []);

  return (
    <dialog
      ref={dialog}
      className={wide ? 'dialog dialog-wide' : 'dialog'}
      aria-labelledby={titleId}
      onCancel={(event) => {
        // The cancel events of file inputs and selects inside the dialog bubble up to here.
        if (event.target !== dialog.current) return;
        event.preventDefault();
        if (dismissible) onClose();
      }}
      onClose={(event) => {
        // Browsers close a dialog on a second Escape even if the first was prevented.
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

/** Focuses the element that opened the dialog or, if it is gone, the page. */
function focusBack(opener: Element | null): void {
  const target = opener?.isConnected === true ? opener : document.querySelector('main');
  if (target instanceof HTMLElement) target.focus();
}

/** The buttons at the bottom of a dialog; the main action comes last. */
export function DialogButtons({ children }: { children: ReactNode }) {
  return <div className="dialog-buttons">{children}</div>;
}
