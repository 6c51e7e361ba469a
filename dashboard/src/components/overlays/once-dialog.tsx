/** Shows a text that is shown only once, such as a key or a link. Only its button closes the dialog. */
import { type ReactNode, useEffect, useState } from 'react';
import { CopyButton } from '../content/copy-button.js';
import { Notice } from '../feedback/notice.js';
import { Button } from '../forms/button.js';
import { Check } from '../forms/field.js';
import { Dialog, DialogButtons } from './dialog.js';

interface OnceDialogProps {
  readonly title: string;
  readonly warning: string;
  readonly text: string;
  /** The label of the button that copies the text. */
  readonly copy: string;
  /** What users confirm before they can close the dialog. */
  readonly confirmation?: string;
  readonly wide?: boolean;
  readonly onClose: () => void;
  readonly children?: ReactNode;
}

export function OnceDialog(props: OnceDialogProps) {
  const { title, warning, text, copy, confirmation, wide = true, onClose, children } = props;
  const [isConfirmed, setConfirmed] = useState(confirmation === undefined);
  useEffect(() => {
    if (isConfirmed) return;
    // Closing the tab would lose the text, too.
    const ask = (event: BeforeUnloadEvent): void => event.preventDefault();
    addEventListener('beforeunload', ask);
    return () => removeEventListener('beforeunload', ask);
  }, [isConfirmed]);
  return (
    <Dialog title={title} onClose={onClose} dismissible={false} wide={wide}>
      <Notice kind="warn">{warning}</Notice>
      <div className="once">
        <code>{text}</code>
      </div>
      {children}
      {confirmation !== undefined && (
        <Check
          label={confirmation}
          checked={isConfirmed}
          onChange={(event) => setConfirmed(event.target.checked)}
        />
      )}
      <DialogButtons>
        <Button disabled={!isConfirmed} onClick={onClose}>
          Done
        </Button>
        <CopyButton text={text} label={copy} kind="primary" />
      </DialogButtons>
    </Dialog>
  );
}
