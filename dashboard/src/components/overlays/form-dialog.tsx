/** A dialog with a form. */
import type { ComponentProps, ReactNode } from 'react';
import { Form } from '../forms/form.js';
import { Dialog } from './dialog.js';

interface FormDialogProps extends Omit<ComponentProps<typeof Form>, 'label' | 'onCancel' | 'wide'> {
  readonly title: string;
  /** Above the form. */
  readonly lead?: ReactNode;
  readonly wide?: boolean;
  readonly dismissible?: boolean;
  readonly onClose: () => void;
}

/** With `done`, it closes when the form is sent. */
export function FormDialog(props: FormDialogProps) {
  const { title, lead, wide, dismissible, onClose, onSend, kind = 'primary', ...form } = props;
  const send = async (data: FormData): Promise<void> => {
    await onSend(data);
    if (form.done !== undefined) onClose();
  };
  return (
    <Dialog title={title} onClose={onClose} wide={wide} dismissible={dismissible}>
      {lead !== undefined && <div className="stack quiet">{lead}</div>}
      <Form {...form} kind={kind} label={title.replace(/\?$/, '')} onSend={send} onCancel={onClose} />
    </Dialog>
  );
}
