/** How messages reach people. A channel is an entry here, and its sending one in `app/notifications/channels/channels.ts`. */
import { destinationCharactersMax } from '../limits.js';
import { toEmail } from '../people/member.js';
import { failure, type Result, success } from '../result.js';

export const CHANNELS = ['webhook', 'slack', 'email'] as const;

export type Channel = (typeof CHANNELS)[number];

/** A destination in its usual form, and the part of it that members may see. */
interface ParsedDestination {
  readonly to: string;
  readonly shown: string;
}

/** `allowsHttp`: whether the operator allows private networks, which may lack TLS. */
interface Rules {
  readonly allowsHttp: boolean;
}

interface ChannelForm {
  /** Within a sentence. */
  readonly name: string;
  /** In a list of channels. */
  readonly title: string;
  /** The field for its destination. */
  readonly field: {
    readonly label: string;
    readonly type: 'url' | 'email';
    readonly placeholder: string;
    readonly hint?: string;
  };
  readonly parseDestination: (text: string, rules: Rules) => Result<ParsedDestination>;
  /** Whether each destination has a secret, which signs the messages. */
  readonly isSigned: boolean;
  /** Whether only servers that send e-mail have it. */
  readonly needsMailer: boolean;
}

export const CHANNEL_FORMS: Readonly<Record<Channel, ChannelForm>> = {
  webhook: {
    name: 'webhook',
    title: 'Webhook',
    field: {
      label: 'Address of the webhook',
      type: 'url',
      placeholder: 'https://hooks.example.com/counts',
      hint: 'Messages are signed. A new address gets a new secret, which is shown once.',
    },
    parseDestination: parseUrl,
    isSigned: true,
    needsMailer: false,
  },
  slack: {
    name: 'Slack',
    title: 'Slack',
    field: {
      label: 'Address of the incoming webhook',
      type: 'url',
      placeholder: 'https://hooks.slack.com/services/…',
      hint: 'From Slack. Only its host is shown later.',
    },
    parseDestination: parseUrl,
    isSigned: false,
    needsMailer: false,
  },
  email: {
    name: 'e-mail',
    title: 'E-mail',
    field: { label: 'E-mail address', type: 'email', placeholder: 'team@example.com' },
    parseDestination: parseEmail,
    isSigned: false,
    needsMailer: true,
  },
};

function parseEmail(text: string): Result<ParsedDestination> {
  const email = toEmail(text);
  return email === undefined ? failure('is not an e-mail address') : success({ to: email, shown: email });
}

function parseUrl(text: string, { allowsHttp }: Rules): Result<ParsedDestination> {
  if (text.length > destinationCharactersMax)
    return failure(`has more than ${destinationCharactersMax} characters`);
  const url = URL.canParse(text) ? new URL(text) : undefined;
  const isAllowed = url?.protocol === 'https:' || (allowsHttp && url?.protocol === 'http:');
  if (url === undefined || !isAllowed) return failure('is not an address that begins with https://');
  if (url.username !== '' || url.password !== '')
    return failure('contains a user name or password; webhooks are signed instead');
  return success({ to: url.href, shown: url.host });
}
