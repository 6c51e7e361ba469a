/** Shows the secret of a new key, once. */
import type { KeyWithSecret } from '../../api/types.js';
import { OnceDialog } from '../../components/overlays/once-dialog.js';

interface NewSecretProps {
  readonly created: KeyWithSecret;
  readonly title: string;
  readonly onClose: () => void;
}

export function NewSecret({ created, title, onClose }: NewSecretProps) {
  return (
    <OnceDialog
      title={title}
      warning="This is the only time the key is shown. Copy it now into the secrets of your server, and nowhere else."
      text={created.secret}
      copy="Copy key"
      confirmation="I have stored the key"
      onClose={onClose}
    />
  );
}
