/** What programs sign in with: access tokens, deploy tokens and deploy keys of projects and groups. */
import type { Values } from '../../../http/index.ts';
import type { PageCall } from '../../../pages/index.ts';
import { formOf, settingsPage } from '../declared/definition.ts';
import { choicesOf, formPart } from '../declared/form_present.ts';
import { listPart } from '../declared/list_present.ts';
import { onceView, textOf } from '../declared/views.ts';
import { roleNames } from './level_rules.ts';

const tokenOnce = (reply: Values, { path }: PageCall) =>
  onceView('Your new token', [[textOf(reply, 'name'), reply.token]], path);

const accessTokens = (noun: 'Project' | 'Group') =>
  listPart('token', {
    list: `list${noun}AccessTokens`,
    intro: `With such a token, programs act in the ${noun.toLowerCase()} as a bot with the role that you choose.`,
    given: () => ({ state: 'active', sort: 'created_desc' }),
    names: ({ id }) => ({ token_id: Number(id) }),
    title: 'name',
    line: ({ access_level, scopes, description, expires_at }) =>
      [
        roleNames[String(access_level)],
        (scopes as string[]).join(', '),
        description,
        expires_at && `until ${expires_at}`,
      ]
        .filter(Boolean)
        .join(' · '),
    empty: 'There are no tokens.',
    create: formOf(
      `create${noun}AccessToken`,
      {
        name: {},
        description: {},
        access_level: { label: 'Role', words: roleNames, help: undefined },
        scopes: { words: scopeWords },
        expires_at: { label: 'Expires on', help: 'It must end.' },
      },
      { button: 'Create the token', heading: 'New token', is_sensitive: true, shows: tokenOnce },
    ),
    buttons: {
      rotate: { runs: `rotate${noun}AccessToken`, label: 'Rotate', is_sensitive: true, shows: tokenOnce },
      revoke: {
        runs: `revoke${noun}AccessToken`,
        label: 'Revoke',
        look: 'danger',
        done: 'The token does not work any more.',
      },
    },
  });

/** The scopes that have an effect. */
const scopeWords = {
  api: 'api: everything in the API and in git',
  read_api: 'read_api: reading with the API',
  read_repository: 'read_repository: fetching with git, and reading files',
  write_repository: 'write_repository: fetching and pushing with git',
  self_rotate: 'self_rotate: rotating itself',
};

export const accessTokenPages = [
  settingsPage('project', 'access_tokens', [accessTokens('Project')]),
  settingsPage('group', 'access_tokens', [accessTokens('Group')]),
];

const deployTokens = (noun: 'Project' | 'Group') =>
  listPart('token', {
    list: `list${noun}DeployTokens`,
    intro: 'With a deploy token, a server fetches code. It belongs to nobody.',
    names: ({ id }) => ({ token_id: Number(id) }),
    title: 'name',
    line: ['username', 'scopes', 'expires_at', 'revoked', 'expired'],
    empty: 'There are no deploy tokens.',
    create: formOf(
      `create${noun}DeployToken`,
      {
        name: {},
        username: { help: 'Left empty, one is made.' },
        expires_at: { kind: 'date', help: 'Left empty, it does not expire.' },
        scopes: { words: { read_repository: 'read_repository: fetching with git, and reading files' } },
      },
      {
        button: 'Create the token',
        heading: 'New deploy token',
        is_sensitive: true,
        shows: (reply, { path }) =>
          onceView(
            'Your new deploy token',
            [
              ['Username', reply.username],
              ['Token', reply.token],
            ],
            path,
          ),
      },
    ),
    buttons: {
      revoke: {
        runs: `delete${noun}DeployToken`,
        label: 'Revoke',
        look: 'danger',
        done: 'The token does not work any more.',
      },
    },
  });

export const deployTokenPages = [
  settingsPage('project', 'deploy_tokens', [deployTokens('Project')]),
  settingsPage('group', 'deploy_tokens', [deployTokens('Group')]),
];

export const deployKeysPage = settingsPage('project', 'deploy_keys', [
  listPart('key', {
    list: 'listProjectDeployKeys',
    intro: 'With a deploy key, a machine fetches over SSH, and pushes if it may.',
    names: ({ id }) => ({ key_id: Number(id) }),
    title: 'title',
    line: ['can_push', 'fingerprint_sha256', 'created_at', 'expires_at'],
    empty: 'There are no deploy keys.',
    create: formOf(
      'createProjectDeployKey',
      {
        title: {},
        key: { label: 'Public key', kind: 'area', refused_as: ['fingerprint_sha256', 'base'] },
        can_push: { label: 'It may push', help: undefined },
        expires_at: { kind: 'date', help: 'Left empty, it does not expire.' },
      },
      { button: 'Add the key', heading: 'New deploy key', is_sensitive: true },
    ),
    edit: formOf(
      'updateProjectDeployKey',
      { title: {}, can_push: { label: 'It may push', help: undefined } },
      { button: 'Save' },
    ),
    buttons: {
      remove: { runs: 'deleteProjectDeployKey', label: 'Remove', look: 'danger', done: 'The key is removed.' },
    },
  }),
  formPart('enable_key', {
    ...formOf(
      'enableProjectDeployKey',
      { key_id: { label: 'Key', choices: choicesOf('listDeployKeys', { label: 'title' }) } },
      { heading: 'Use a key of another project', button: 'Add it here', done: 'The key works here, too.' },
    ),
  }),
]);
