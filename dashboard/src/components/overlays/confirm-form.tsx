/** Asks for confirmation before an action. The most destructive ones require typing a name. */
import { type ComponentProps, type ReactNode, useState } from 'react';
import { TextField } from '../forms/field.js';
import { FormDialog } from './form-dialog.js';

interface ConfirmFormProps {
  readonly title: string;
  /** The label of the button. */
  readonly action: string;
  /** How the button looks: `danger`, for what cannot be undone, unless given. */
  readonly kind?: ComponentProps<typeof FormDialog>['kind'];
  /** The message after success. */
  readonly done: string;
  /** What the user has to type: a description (`the key’s name`) and the text. */
  readonly typed?: { readonly what: string; readonly text: string } | undefined;
  readonly onConfirm: () => Promise<unknown>;
  readonly onClose: () => void;
  readonly children: ReactNode;
}

export function ConfirmForm(props: ConfirmFormProps) {
  const { title, action, kind = 'danger', done, typed, onConfirm, onClose, children } = props;
  const [text, setText] = useState('');
  return (
    <FormDialog
      title={title}
      lead={children}
      onSend={onConfirm}
      done={done}
      submit={action}
      kind={kind}
      disabled={typed !== undefined && text.trim() !== typed.text}
      onClose={onClose}
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
    </FormDialog>
  );
}
