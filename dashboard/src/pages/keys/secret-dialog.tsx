/** Shows a new secret, once. Only its button closes the dialog. */
import { useEffect, useState } from 'react';
import type { KeyWithSecret } from '../../api/types.js';
import { CopyButton } from '../../components/content/copy-button.js';
import { Notice } from '../../components/feedback/notice.js';
import { Button } from '../../components/forms/button.js';
import { Check } from '../../components/forms/field.js';
import { Dialog, DialogButtons } from '../../components/overlays/dialog.js';

interface SecretDialogProps {
  readonly created: KeyWithSecret;
  readonly title: string;
  readonly onClose: () => void;
}

export function SecretDialog({ created, title, onClose }: SecretDialogProps) {
  const [isStored, setStored] = useState(false);

  useEffect(() => {
    // Closing the tab would lose the secret, too.
    const ask = (event: BeforeUnloadEvent): void => event.preventDefault();
    addEventListener('beforeunload', ask);
    return () => removeEventListener('beforeunload', ask);
  }, []);

  return (
    <Dialog title={title} onClose={onClose} dismissible={false} wide>
      <Notice kind="warn">
        This is the only time the key is shown. Copy it now into the secrets of your server, and nowhere else.
      </Notice>
      <div className="secret">
        <code>{created.secret}</code>
        <CopyButton text={created.secret} label="Copy key" kind="primary" />
      </div>
      <Check
        label="I have stored the key"
        checked={isStored}
        onChange={(event) => setStored(event.target.checked)}
      />
      <DialogButtons>
        <Button kind="primary" disabled={!isStored} onClick={onClose}>
          Done
        </Button>
      </DialogButtons>
    </Dialog>
  );
}
