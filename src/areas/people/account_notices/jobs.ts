/** Mail that tells people what has changed in how they sign in, so that nobody changes it without their knowledge (docs/reference/sessions.md#mail). */
import { randomUUID } from 'node:crypto';
import { Type } from 'typebox';
import { recipientFor } from '../../../access/index.ts';
import type { Database } from '../../../db/index.ts';
import { Id } from '../../../http/index.ts';
import { job } from '../../../jobs/index.ts';
import { mailRetries } from '../../../mail/index.ts';

const notices = {
  authenticator_added: ['A second factor was added', 'An authenticator was set up for your account.'],
  authenticator_removed: ['A second factor was removed', 'The authenticator of your account was removed.'],
  webauthn_key_added: ['A second factor was added', 'A passkey or security key was added to your account.'],
  webauthn_key_removed: ['A second factor was removed', 'A passkey or security key of your account was removed.'],
  webauthn_key_disabled: [
    'A security key was disabled',
    'A security key of your account was disabled: its counter went back, as happens when a key is copied. Remove it, and add another one.',
  ],
  factors_removed: [
    'Your second factors were removed',
    'An administrator removed all second factors of your account. Your password alone is enough to sign in.',
  ],
  recovery_codes_renewed: [
    'New recovery codes were made',
    'New recovery codes were made for your account. The former ones no longer count.',
  ],
  password_changed: ['Your password has changed', 'The password of your account was changed.'],
  ssh_key_added: ['An SSH key was added', 'An SSH key was added to your account.'],
  gpg_key_added: ['A GPG key was added', 'A GPG key was added to your account.'],
  unknown_sign_in: [
    'A sign-in from a new place',
    'Somebody signed in to your account from an address and a browser that it was not used with before.',
  ],
} as const;
export type NoticeKind = keyof typeof notices;

export const tellOwner = job('tell_owner', {
  input: {
    user_id: Id,
    kind: Type.Enum(Object.keys(notices) as NoticeKind[]),
    /** The address of a sign-in, or the title of a key. */
    detail: Type.String(),
    /** Tells messages of the same kind apart. */
    seed: Type.String(),
  },
  retries: mailRetries,
  async run({ db, mailer, url, input: { user_id, kind, detail, seed } }) {
    const to = await recipientFor(db, user_id);
    if (!to) return;
    const [subject, text] = notices[kind];
    const facts = detail === '' ? [] : ([[kind === 'unknown_sign_in' ? 'Address' : 'Key', detail]] as const);
    await mailer.send({
      to,
      id: `account-notice-${seed}`,
      subject,
      paragraphs: [
        text,
        { facts: [...facts, ['Server', url]] },
        'If this was not you, change your password, and contact an administrator of the server.',
      ],
    });
  },
});

/**
 * Tells a user by mail of a change of their account.
 * @param tx the transaction of the change
 * @param detail more about it, in a few words
 */
export const noteChange = (tx: Database, user_id: number, kind: NoticeKind, detail = ''): Promise<void> =>
  tellOwner.enqueue(tx, { user_id, kind, detail, seed: randomUUID() });
