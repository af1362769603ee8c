/** The applications of the instance, of groups and of users, and those that a user lets use their account (docs/reference/applications.md). */
import { html, type Operation, time } from '../../../pages/index.ts';
import { formOf, settingsPage } from '../declared/definition.ts';
import { listPart } from '../declared/list_present.ts';
import { dotted, onceView, textOf } from '../declared/views.ts';
import { registeredBy, scopeSentences } from './views.ts';

const operations = {
  Instance: {
    list: 'listApplications',
    create: 'createApplication',
    remove: 'deleteApplication',
    renew: 'renewApplicationSecret',
  },
  Group: {
    list: 'listGroupApplications',
    create: 'createGroupApplication',
    remove: 'deleteGroupApplication',
    renew: 'renewGroupApplicationSecret',
  },
  Own: {
    list: 'listOwnApplications',
    create: 'createOwnApplication',
    remove: 'deleteOwnApplication',
    renew: 'renewOwnApplicationSecret',
  },
} as const satisfies Record<string, Record<string, Operation>>;

const scopesHelp = `Names with blanks between them, of ${Object.keys(scopeSentences).join(', ')}`;

function applications(kind: keyof typeof operations) {
  const { list, create, remove, renew } = operations[kind];
  const once = (reply: Record<string, unknown>, path: string) =>
    onceView(
      textOf(reply, 'application_name'),
      [
        ['Application ID', reply.application_id],
        ['Secret', reply.secret],
      ],
      path,
    );
  const fields = {
    name: {},
    redirect_uri: { kind: 'area' as const, label: 'Addresses that people go back to', help: 'One a line' },
    confidential: {
      label: 'It can keep its secret',
      help: 'A program on the computer or in the browser of its user cannot',
    },
  };
  return listPart('application', {
    list,
    heading: kind === 'Own' ? 'Your applications' : undefined,
    intro: 'Programs that sign people in with this server, and act for them.',
    names: ({ id }) => ({ [kind === 'Instance' ? 'id' : 'application_id']: Number(id) }),
    title: 'application_name',
    line: (application) =>
      dotted([
        html`<code>${textOf(application, 'application_id')}</code>`,
        textOf(application, 'callback_url').replaceAll('\n', ', '),
        (application.scopes as string[]).join(' '),
        application.confidential === true ? '' : 'keeps no secret',
      ]),
    empty: 'There are no applications.',
    create: {
      ...(kind === 'Instance'
        ? formOf(
            'createApplication',
            {
              ...fields,
              scopes: { help: scopesHelp },
              trusted: { label: 'People are not asked', help: undefined },
            },
            { button: 'Register it' },
          )
        : formOf(
            create as 'createOwnApplication',
            { ...fields, scopes: { words: scopeSentences } },
            { button: 'Register it' },
          )),
      heading: 'New application',
      is_sensitive: true,
      shows: (reply, { path }) => once(reply, path),
    },
    buttons: {
      renew: {
        runs: renew,
        label: 'Renew the secret',
        is_sensitive: true,
        shows: (reply, { path }) => once(reply, path),
      },
      remove: {
        runs: remove,
        label: 'Delete',
        look: 'danger',
        is_sensitive: true,
        done: 'The application and its tokens are gone.',
      },
    },
  });
}

const authorized = listPart('authorized', {
  list: 'listAuthorizedApplications',
  heading: 'Applications that use your account',
  names: ({ id }) => ({ application_id: Number(id) }),
  title: 'name',
  line: ({ owner, scopes, authorized_at, last_used_at }) =>
    dotted([
      `registered by ${registeredBy(owner as string | null)}`,
      (scopes as string[]).join(' '),
      html`since ${time(String(authorized_at))}`,
      last_used_at === null ? 'never used' : html`last used ${time(String(last_used_at))}`,
    ]),
  empty: 'No application uses your account.',
  buttons: {
    revoke: {
      runs: 'revokeAuthorizedApplication',
      label: 'Revoke',
      look: 'danger',
      done: 'The application cannot use your account any more.',
    },
  },
});

export const applicationPages = [
  settingsPage('admin', 'applications', [applications('Instance')]),
  settingsPage('group', 'applications', [applications('Group')]),
  settingsPage('own', 'applications', [authorized, applications('Own')]),
];
