/** How messages reach people. A channel that takes JSON at an address is one entry here, and no code elsewhere. */
import { destinationCharactersMax } from '../limits.js';
import { toEmail } from '../people/member.js';
import { failure, type Result, success } from '../result.js';

export const CHANNELS = ['webhook', 'slack', 'teams', 'discord', 'email'] as const;

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
  /** Signed as a webhook, with a secret for each destination; by e-mail, which not all servers send; or the JSON that is posted. */
  readonly form: 'signed' | 'mail' | ((message: Text) => object);
}

/** Of a message: see `message.ts`. */
interface Text {
  readonly title: string;
  readonly text: string;
}

/** Of Discord's documentation, "Create Message". */
const discordCharactersMax = 2000;

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
    form: 'signed',
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
    // Slack reads three characters as its own marks (Slack's reference, "Escaping text").
    form: ({ title, text }) => {
      const plainly = (plain: string): string =>
        plain.replaceAll('&', '&amp;').replaceAll('<', '&lt;').replaceAll('>', '&gt;');
      return { text: `*${plainly(title)}*\n${plainly(text)}` };
    },
  },
  teams: {
    name: 'Microsoft Teams',
    title: 'Microsoft Teams',
    field: {
      label: 'Address of the workflow',
      type: 'url',
      placeholder: 'https://….logic.azure.com/workflows/…',
      hint: 'Of a Teams workflow that posts to a channel when a webhook request is received. Only its host is shown later.',
    },
    parseDestination: parseUrl,
    // An Adaptive Card. In the runs of a RichTextBlock nothing is a mark.
    form: ({ title, text }) => ({
      type: 'message',
      attachments: [
        {
          contentType: 'application/vnd.microsoft.card.adaptive',
          content: {
            $schema: 'http://adaptivecards.io/schemas/adaptive-card.json',
            type: 'AdaptiveCard',
            version: '1.4',
            body: [
              { type: 'RichTextBlock', inlines: [{ type: 'TextRun', text: title, weight: 'Bolder' }] },
              ...text.split('\n\n').map((one) => ({
                type: 'RichTextBlock',
                inlines: [{ type: 'TextRun', text: one }],
              })),
            ],
          },
        },
      ],
    }),
  },
  discord: {
    name: 'Discord',
    title: 'Discord',
    field: {
      label: 'Address of the webhook',
      type: 'url',
      placeholder: 'https://discord.com/api/webhooks/…',
      hint: 'From the settings of a channel in Discord, Integrations. Only its host is shown later.',
    },
    parseDestination: parseUrl,
    form: ({ title, text }) => {
      // An address would not be one with these.
      const plainly = (plain: string): string =>
        /^https?:\S+$/.test(plain) ? plain : plain.replaceAll(/[\\*_~`|<>#[\]]/g, '\\$&');
      const paragraphs = [`**${plainly(title)}**`, ...text.split('\n\n').map(plainly)];
      const content = [...paragraphs.join('\n')].slice(0, discordCharactersMax).join('');
      // Otherwise a name such as @everyone calls people.
      return { content, allowed_mentions: { parse: [] } };
    },
  },
  email: {
    name: 'e-mail',
    title: 'E-mail',
    field: { label: 'E-mail address', type: 'email', placeholder: 'team@example.com' },
    parseDestination: parseEmail,
    form: 'mail',
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
  if (url?.protocol === 'http:' && !allowsHttp)
    return failure(
      'is not an address that begins with https://; http:// is for receivers in private networks that the server lists in --notification-networks',
    );
  const isAllowed = url?.protocol === 'https:' || (allowsHttp && url?.protocol === 'http:');
  if (url === undefined || !isAllowed) return failure('is not an address that begins with https://');
  if (url.username !== '' || url.password !== '')
    return failure('contains a user name or password; webhooks are signed instead');
  return success({ to: url.href, shown: url.host });
}
