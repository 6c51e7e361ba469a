/** Sends e-mail over SMTP. */
import type { Transporter } from 'nodemailer';
import { isLoopbackHost } from '../../../domain/keys/networks.js';
import { messageTimeoutMs } from '../../../domain/limits.js';

export interface MailOptions {
  /** Such as `smtps://user:password@mail.example.org`. */
  readonly smtpUrl: string;
  readonly mailFrom: string;
}

export interface Mail {
  readonly id: string;
  readonly to: string;
  readonly subject: string;
  readonly text: string;
}

export class Mailer {
  readonly #options: MailOptions;
  #transport: Promise<Transporter> | undefined;

  constructor(options: MailOptions) {
    this.#options = options;
  }

  /** Resolves once the server has accepted the mail. All attempts have one `Message-ID`. */
  async send({ id, to, subject, text }: Mail): Promise<void> {
    const { mailFrom } = this.#options;
    const domain = /@([^@>]+)>?$/.exec(mailFrom)?.[1] ?? 'localhost';
    const transport = await this.#open();
    await transport.sendMail({
      from: mailFrom,
      to,
      subject,
      text,
      messageId: `<${id}@${domain}>`,
      // Keeps away the replies of vacation programs (RFC 3834).
      headers: { 'auto-submitted': 'auto-generated' },
      disableFileAccess: true,
      disableUrlAccess: true,
    });
  }

  #open(): Promise<Transporter> {
    this.#transport ??= import('nodemailer').then(({ createTransport }) =>
      createTransport({
        url: this.#options.smtpUrl,
        requireTLS: requiresTls(this.#options.smtpUrl),
        connectionTimeout: messageTimeoutMs,
        greetingTimeout: messageTimeoutMs,
        socketTimeout: messageTimeoutMs,
      }),
    );
    return this.#transport;
  }
}

/** Whether `smtp://` must change to TLS: somebody in between could hide that the server offers it, and read the password. */
function requiresTls(smtpUrl: string): boolean {
  const { hostname, searchParams } = new URL(smtpUrl);
  return !isLoopbackHost(hostname) && searchParams.get('ignoreTLS') !== 'true';
}
