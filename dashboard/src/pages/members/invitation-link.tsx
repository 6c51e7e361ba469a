/** Shows the link of an invitation that was just created or renewed. */
import type { CreatedInvitation } from '../../api/types.js';
import { OnceDialog } from '../../components/overlays/once-dialog.js';
import { moment } from '../../format/dates.js';
import { serverUrl } from '../../navigation/base-path.js';

interface InvitationLinkProps {
  readonly invited: CreatedInvitation;
  readonly title?: string;
  readonly onClose: () => void;
}

export function InvitationLink({ invited, title = 'Invitation created', onClose }: InvitationLinkProps) {
  const { invitation, token, mail } = invited;
  return (
    <OnceDialog
      title={title}
      warning={`This is the only time the link is shown. Send it only to ${invitation.email}.`}
      text={`${serverUrl()}/join#${token}`}
      copy="Copy link"
      wide={false}
      onClose={onClose}
    >
      <p className="quiet small">It works once, until {moment(invitation.expiresAt)}.</p>
      <p className="small">
        {mail.problem === null
          ? `Sent to ${invitation.email}.`
          : `Not sent by e-mail: ${mail.problem}. Send the link yourself.`}
      </p>
    </OnceDialog>
  );
}
