/** Hands mail over to a server, or keeps it in files where none is configured. */
import { randomUUID } from 'node:crypto';
import { mkdir, rename, writeFile } from 'node:fs/promises';
import path from 'node:path';
import type { Transporter } from 'nodemailer';
import { type Letter, renderLetter } from './message.ts';

export interface Mail extends Letter {
  /** One address, with the name of who reads there, if he is known. */
  to: { name?: string; address: string };
  /** Tells the mail from all others for ever, in letters, digits and `-`; whoever gets it twice, because it was tried again after a crash, can tell. */
  id: string;
}

export interface Mailer {
  /**
   * Hands a mail over.
   * @throws Error when the server does not take it
   */
  send(mail: Mail): Promise<void>;
}

export interface MailerOptions {
  smtpUrl: string | undefined;
  /** The address that mail comes from. */
  from: string;
  /** Where mail is kept, as .eml, when there is no server. */
  folder: string;
}

const timeout_ms = 30_000;

/** How often a job tries again to send a mail: ever later, for about ten hours, so that a mail server may be away for a night. */
export const mailRetries = 10;

/** @returns a mailer that connects when the first mail is sent */
export function mailerFor({ smtpUrl, from, folder }: MailerOptions): Mailer {
  let transporter: Promise<Transporter> | undefined;
  // Read when it is needed: most processes of a server never send mail.
  const open = async (): Promise<Transporter> => {
    const { createTransport } = await import('nodemailer');
    if (smtpUrl === undefined) return createTransport({ streamTransport: true, buffer: true, newline: 'windows' });
    return createTransport({
      url: smtpUrl,
      connectionTimeout: timeout_ms,
      greetingTimeout: timeout_ms,
      socketTimeout: timeout_ms,
      disableFileAccess: true,
      disableUrlAccess: true,
    });
  };
  return {
    send: async ({ to, id, ...letter }) => {
      transporter ??= open();
      const domain = from.slice(from.lastIndexOf('@') + 1);
      const { message } = (await (
        await transporter
      ).sendMail({
        ...renderLetter(letter),
        // Not as a text, which would be read as a list of addresses.
        to: { name: '', ...to },
        from: { name: 'Coppice', address: from },
        messageId: `<${id}@${domain}>`,
        headers: { 'Auto-Submitted': 'auto-generated' },
      })) as { message?: Buffer };
      if (smtpUrl === undefined && message) await keep(folder, message);
    },
  };
}

/** A name is seen only when the file behind it is whole. Names sort by time. */
async function keep(folder: string, message: Buffer): Promise<void> {
  await mkdir(folder, { recursive: true, mode: 0o700 });
  const file = path.join(folder, `${new Date().toISOString().replaceAll(':', '-')}-${randomUUID()}.eml`);
  await writeFile(`${file}.new`, message, { mode: 0o600, flush: true });
  await rename(`${file}.new`, file);
}
