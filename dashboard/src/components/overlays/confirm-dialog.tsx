/** Asks for confirmation before an action. The most destructive ones require typing a name. */
import { type ComponentProps, type ReactNode, useState } from 'react';
import { toast } from '../feedback/toasts.js';
import { TextField } from '../forms/field.js';
import { Form } from '../forms/form.js';
import { Dialog } from './dialog.js';

interface ConfirmDialogProps {
  readonly title: string;
  /** The label of the button. */
  readonly action: string;
  /** How the button looks: `danger`, for what cannot be undone, unless given. */
  readonly kind?: ComponentProps<typeof Form>['kind'];
  /** The message after success. */
  readonly done: string;
  /** What the user has to type: a description (`the key’s name`) and the text. */
  readonly typed?: { readonly what: string; readonly text: string };
  readonly onConfirm: () => Promise<unknown>;
  readonly onClose: () => void;
  readonly children: ReactNode;
}

export function ConfirmDialog({
  title,
  action,
  kind = 'danger',
  done,
  typed,
  onConfirm,
  onClose,
  children,
}: ConfirmDialogProps) {
  const [text, setText] = useState('');
  return (
    <Dialog title={title} onClose={onClose}>
      <div className="stack quiet">{children}</div>
      <Form
        label={title}
        onSend={async () => {
          await onConfirm();
          onClose();
          toast(done);
        }}
        submit={action}
        kind={kind}
        disabled={typed !== undefined && text.trim() !== typed.text}
        onCancel={onClose}
      >
        {typed !== undefined && (
          <TextField
            label={`To go on, type ${typed.what}: ${typed.text}`}
            name="confirmation"
            autoComplete="off"
            autoCapitalize="none"
            spellCheck={false}
            value={text}
            onChange={(event) => setText(event.target.value)}
          />
        )}
      </Form>
    </Dialog>
  );
}
