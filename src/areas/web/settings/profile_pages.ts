/** The profile of the visitor: what others see of them, their status, picture, and addresses. */
import type { Values } from '../../../http/index.ts';
import { type Option, type PageCall, redirect } from '../../../pages/index.ts';
import { formOf, settingsPage } from '../declared/definition.ts';
import { formPart, reading } from '../declared/form_present.ts';
import { listPart } from '../declared/list_present.ts';

const profile = reading('getOwnProfile');

/** The most addresses that are offered. */
const offered = 100;

/** The confirmed addresses of the visitor. */
async function addressesOf({ described }: PageCall): Promise<Option[]> {
  const [user, emails] = await Promise.all([
    described('getCurrentUser'),
    described('listOwnEmails', { per_page: offered }),
  ]);
  const { email } = user.reply as { email: string };
  const { items } = emails.reply as { items: Values[] };
  const confirmed = items.filter(({ confirmed_at }) => confirmed_at !== null).map((each) => String(each.email));
  return [...new Set([email, ...confirmed])].map((value) => ({ value, label: value }));
}

const profilePart = formPart('profile', {
  ...formOf(
    'updateOwnProfile',
    {
      name: {},
      bio: { kind: 'area', label: 'About you', help: 'At most 255 characters.' },
      job_title: {},
      organization: {},
      location: {},
      pronouns: {},
      website_url: { label: 'Website', help: undefined },
      github: { label: 'GitHub' },
      linkedin: { label: 'LinkedIn' },
      twitter: { label: 'X' },
      discord: {},
      public_email: {
        label: 'Address that others see',
        help: undefined,
        choices: async (call) => [{ value: '', label: 'None' }, ...(await addressesOf(call))],
        is_clearable: true,
      },
      commit_email: {
        label: 'Address in commits that are made here',
        help: undefined,
        choices: async (call) => [
          ...(await addressesOf(call)),
          { value: '_private', label: 'A private one that this server makes up' },
        ],
      },
      private_profile: { label: 'Only you and administrators see what you do' },
    },
    { button: 'Save profile' },
  ),
  reads: profile,
});

const statusPart = formPart('status', {
  ...formOf(
    'setOwnStatus',
    {
      message: { label: 'Message', help: undefined },
      emoji: { label: 'Emoji', help: 'Its name, such as palm_tree.' },
      availability: { label: 'Availability', words: { not_set: 'Available', busy: 'Busy' }, help: undefined },
      clear_status_after: {
        label: 'It ends',
        help: undefined,
        kind: 'select',
        options: [
          { value: '', label: 'Never' },
          { value: '30_minutes', label: 'In 30 minutes' },
          { value: '3_hours', label: 'In 3 hours' },
          { value: '8_hours', label: 'In 8 hours' },
          { value: '1_day', label: 'In a day' },
          { value: '3_days', label: 'In 3 days' },
          { value: '7_days', label: 'In 7 days' },
          { value: '30_days', label: 'In 30 days' },
        ],
      },
    },
    { heading: 'Status', button: 'Set status' },
  ),
  reads: reading('getOwnStatus'),
});

export const profilePage = settingsPage('own', 'profile', [
  profilePart,
  statusPart,
  formPart('picture', {
    ...formOf(
      'setOwnAvatar',
      { avatar: { label: 'File', help: 'A PNG, JPEG, GIF or WebP file of at most 200 KiB.' } },
      { heading: 'Picture', button: 'Upload' },
    ),
  }),
  formPart('remove_picture', {
    ...formOf('deleteOwnAvatar', {}, { button: 'Remove the picture', look: 'danger', done: 'The picture is removed.' }),
    reads: reading('getCurrentUser'),
    isShown: ({ avatar_url }) => avatar_url !== null,
  }),
  formPart('username', {
    ...formOf(
      'updateOwnUsername',
      { username: { is_required: true, is_clearable: true } },
      {
        heading: 'Username',
        intro:
          'The addresses of your projects change with it. Old ones lead on, as long as nobody else takes the name.',
        button: 'Change the username',
        look: 'danger',
        is_sensitive: true,
      },
    ),
    reads: profile,
  }),
]);

export const profileRedirect = redirect('/-/profile', () => '/-/user_settings/profile');

export const emailsPage = settingsPage('own', 'emails', [
  formPart('primary', {
    ...formOf(
      'updateOwnEmail',
      { email: { label: 'Main address', is_required: true, is_clearable: true, autocomplete: 'email' } },
      {
        intro: 'Mail goes to it. A new one counts when you have followed the link that is sent to it.',
        button: 'Change it',
        look: 'plain',
        is_sensitive: true,
        done: 'Follow the link that was sent to the new address.',
      },
    ),
    reads: reading('getCurrentUser'),
  }),
  listPart('email', {
    heading: 'Further addresses',
    intro: 'Commits with them are yours.',
    list: 'listOwnEmails',
    only: ({ email }, { caller }) => email !== caller!.email,
    names: ({ id }) => ({ email_id: Number(id) }),
    title: 'email',
    line: ({ confirmed_at }) => (confirmed_at === null ? 'Not confirmed yet' : 'Confirmed'),
    empty: 'You have no further addresses.',
    create: formOf(
      'createOwnEmail',
      { email: { label: 'Address' } },
      {
        button: 'Add the address',
        heading: 'Add an address',
        is_sensitive: true,
        done: 'Follow the link that was sent to it.',
      },
    ),
    buttons: {
      again: {
        runs: 'resendOwnConfirmation',
        label: 'Send the link again',
        isFor: ({ confirmed_at }) => confirmed_at === null,
        done: 'The link is sent again.',
      },
      remove: { runs: 'deleteOwnEmail', label: 'Remove', look: 'danger', done: 'The address is removed.' },
    },
  }),
]);

export const gpgKeysPage = settingsPage('own', 'gpg_keys', [
  listPart('key', {
    list: 'listOwnGpgKeys',
    intro: 'With a GPG key, your signatures of commits and tags are verified.',
    names: ({ id }) => ({ key_id: Number(id) }),
    title: ({ id }) => `Key ${id}`,
    line: ['created_at'],
    empty: 'You have no GPG keys.',
    create: formOf(
      'createOwnGpgKey',
      { key: { label: 'Public key', kind: 'area', help: 'As gpg --armor --export writes it.' } },
      { button: 'Add the key', heading: 'Add a key', is_sensitive: true },
    ),
    buttons: {
      revoke: {
        runs: 'revokeOwnGpgKey',
        label: 'Revoke',
        look: 'danger',
        done: 'The key is revoked. What it has signed is not verified any more.',
      },
      remove: { runs: 'deleteOwnGpgKey', label: 'Delete', look: 'danger', done: 'The key is deleted.' },
    },
  }),
]);
