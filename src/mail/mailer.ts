/** Sends mail through a server, or stores it in files when none is configured. */
import { randomUUID } from 'node:crypto';
import { mkdir, rename, writeFile } from 'node:fs/promises';
import path from 'node:path';
import type { Transporter } from 'nodemailer';
import { type Message, renderMessage } from './message.ts';

export interface Mail extends Message {
  /** One address, with the recipient's name if it is known. */
  to: { name?: string; address: string };
  /** The sender's name, if not the usual one. */
  sender?: string;
  /** The id of the message that it follows, by which mail programs form threads. */
  thread?: string;
  /** Further headers. */
  headers?: Readonly<Record<string, string>>;
  /** Identifies the message, in letters, digits, `_` and `-`. A message that is sent again after a crash has the same id. */
  id: string;
}

export interface Mailer {
  /**
   * Sends a message.
   * @throws Error when the server refuses it
   */
  send(mail: Mail): Promise<void>;
}

export interface MailerOptions {
  smtpUrl: string | undefined;
  /** The sender, unless a message names another one. */
  from: { name: string; address: string };
  /** The folder where messages are stored as .eml files when there is no server. */
  folder: string;
}

/** The server's answer to a command, as nodemailer reports it. */
interface Refusal {
  command?: string;
  responseCode?: number;
  response?: string;
}

/** Whether the server answered, so that the next message may succeed. */
export const isAnswered = (error: unknown): boolean => (error as Refusal).responseCode !== undefined;

/**
 * Whether the server refused the recipient's address for good (RFC 5321, section 4.2.1; RFC 3463). A full mailbox is temporary, and a policy (`x.7.x`) concerns the
 * sender or the message.
 */
export function isRefusedAddress(error: unknown): boolean {
  const { command, responseCode = 0, response = '' } = error as Refusal;
  const [, subject, detail] = /^\d{3}[ -]5\.(\d{1,3})\.(\d{1,3})\b/.exec(response) ?? [];
  return (
    command === 'RCPT TO' &&
    responseCode >= 500 &&
    responseCode !== 552 &&
    subject !== '7' &&
    !(subject === '2' && detail === '2')
  );
}

const timeout_ms = 30_000;
/** The maximum number of concurrent connections to the mail server. */
export const connections = 5;
/** Connections are kept for consecutive messages, and closed after a pause. */
const idle_ms = 200;

/** The number of retries of a message, with growing delays over about ten hours: a mail server may be down for a night. */
export const mailRetries = 10;

const limits = {
  connectionTimeout: timeout_ms,
  greetingTimeout: timeout_ms,
  socketTimeout: timeout_ms,
  disableFileAccess: true,
  disableUrlAccess: true,
};

/**
 * Connects to a mail server and signs in.
 * @throws Error when that fails
 */
export async function tryMailServer(smtpUrl: string): Promise<void> {
  const { createTransport } = await import('nodemailer');
  const transport = createTransport({ url: smtpUrl, ...limits });
  try {
    await transport.verify();
  } finally {
    transport.close();
  }
}

/** @returns a mailer that connects when the first message is sent */
export function mailerFor({ smtpUrl, from, folder }: MailerOptions): Mailer {
  let transporter: Promise<Transporter> | undefined;
  // Loaded on demand: most processes of a server never send mail.
  const open = async (): Promise<Transporter> => {
    const { createTransport } = await import('nodemailer');
    if (smtpUrl === undefined) return createTransport({ streamTransport: true, buffer: true, newline: 'windows' });
    return createTransport({ url: smtpUrl, pool: true, maxConnections: connections, ...limits });
  };
  let sending = 0;
  let idle: NodeJS.Timeout | undefined;
  const close = () => {
    void transporter?.then((opened) => opened.close());
    transporter = undefined;
  };
  const whileOpen = async <T>(work: (opened: Transporter) => Promise<T>): Promise<T> => {
    clearTimeout(idle);
    sending += 1;
    try {
      transporter ??= open();
      return await work(await transporter);
    } finally {
      sending -= 1;
      if (sending === 0) idle = setTimeout(close, idle_ms).unref();
    }
  };
  return {
    send: async ({ to, id, sender, thread, headers, ...letter }) => {
      const idOf = (name: string) => `<${name}@${from.address.slice(from.address.lastIndexOf('@') + 1)}>`;
      const { message } = (await whileOpen((opened) =>
        opened.sendMail({
          ...renderMessage(letter),
          // An object, because a string would be parsed as a list of addresses.
          to: { name: '', ...to },
          from: { ...from, ...(sender === undefined ? {} : { name: sender }) },
          messageId: idOf(id),
          ...(thread === undefined ? {} : { inReplyTo: idOf(thread), references: idOf(thread) }),
          headers: { 'Auto-Submitted': 'auto-generated', ...headers },
        }),
      )) as { message?: Buffer };
      if (smtpUrl === undefined && message) await keep(folder, message);
    },
  };
}

/** The file appears under its name only when it is complete. Names sort by time. */
async function keep(folder: string, message: Buffer): Promise<void> {
  await mkdir(folder, { recursive: true, mode: 0o700 });
  const file = path.join(folder, `${new Date().toISOString().replaceAll(':', '-')}-${randomUUID()}.eml`);
  await writeFile(`${file}.new`, message, { mode: 0o600, flush: true });
  await rename(`${file}.new`, file);
}
