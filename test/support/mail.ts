/** Where the mail of tests goes: a real SMTP server for what is sent, and a mailer that keeps letters for what is written. */
import assert from 'node:assert/strict';
import { once } from 'node:events';
import type { AddressInfo } from 'node:net';
import type { TestContext } from 'node:test';
import PostalMime, { type Email } from 'postal-mime';
import { SMTPServer, type SMTPServerOptions } from 'smtp-server';
import type { AnyJob, Poll } from '../../src/jobs/index.ts';
import type { Mail } from '../../src/mail/index.ts';
import type { JobServices } from '../../src/services/index.ts';
import { addressesIn, checkAddresses } from './dead_links.ts';
import { performQueued } from './jobs.ts';

export interface Received extends Email {
  /** The recipient of the mail, in whatever headers it has. */
  recipients: string[];
}

export interface Mailbox {
  /** For COPPICE_SMTP_URL. */
  url: string;
  port: number;
  /** The received mail, in order. */
  received: Received[];
}

/**
 * A server that takes all mail, until the test ends.
 * @param options what it asks of those who bring mail; as it is given it asks nothing
 */
export async function mailbox(t: TestContext, options: SMTPServerOptions = {}): Promise<Mailbox> {
  const received: Received[] = [];
  const server = new SMTPServer({
    disableReverseLookup: true,
    authOptional: true,
    disabledCommands: options.secure ? [] : ['STARTTLS'],
    onData: (stream, session, done) => {
      const recipients = session.envelope.rcptTo.map(({ address }) => address);
      stream
        .toArray()
        .then((chunks) => PostalMime.parse(Buffer.concat(chunks)))
        .then((mail) => received.push({ ...mail, recipients }))
        .then(() => done(), done);
    },
    ...options,
  });
  // A connection that is closed early is checked by the test that closes it.
  server.on('error', () => {});
  server.listen(0, '127.0.0.1');
  await once(server.server, 'listening');
  t.after(() => new Promise<void>((resolve) => server.close(resolve)));
  const { port } = server.server.address() as AddressInfo;
  return { url: `${options.secure ? 'smtps' : 'smtp'}://127.0.0.1:${port}`, port, received };
}

/**
 * Runs the jobs that wait, and what follows from them, with a mailer that keeps what it is given.
 * @param jobs those that send mail, with their polls
 * @returns the mail that they sent, in its order
 */
export async function mailOf(services: JobServices, jobs: readonly (AnyJob | Poll)[]): Promise<Mail[]> {
  const sent: Mail[] = [];
  const mailer = {
    send: async (mail: Mail) => {
      checkAddresses(addressesIn(mail), `The mail “${mail.subject}”`);
      sent.push(mail);
    },
  };
  await performQueued({ ...services, mailer }, jobs);
  return sent;
}

/** The addresses of the links in a mail. */
export const linksIn = ({ paragraphs }: Mail): URL[] =>
  paragraphs.flatMap((paragraph) =>
    typeof paragraph === 'object' && 'url' in paragraph ? [new URL(paragraph.url)] : [],
  );

/** The address that a mail asks to follow: that of its only link. */
export function linkIn(mail: Mail): URL {
  const links = linksIn(mail);
  assert.equal(links.length, 1, 'the mail has one link');
  return links[0]!;
}
