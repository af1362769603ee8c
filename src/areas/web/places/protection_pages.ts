/** Protected branches, tags and environments of projects and groups. */
import type { Values } from '../../../http/index.ts';
import { type Content, chip, html } from '../../../pages/index.ts';
import { formOf, settingsPage } from '../declared/definition.ts';
import { listPart } from '../declared/list_present.ts';
import { dotted } from '../declared/views.ts';
import { protectionWords } from './level_rules.ts';

interface Level {
  access_level_description: string;
}

const levelsIn = (levels: unknown): string =>
  ((levels ?? []) as Level[]).map(({ access_level_description }) => access_level_description).join(', ');

/** Who may do what, in words. */
const rights = (entries: readonly (readonly [label: string, levels: unknown])[]): Content =>
  dotted(entries.map(([label, levels]) => (levelsIn(levels) === '' ? '' : `${label}: ${levelsIn(levels)}`)));

const words = protectionWords;

type Entry = Level & { id: number; access_level: number | null };

/**
 * The only entry of a protection for an action, if it is a level and those who read it may change it. Several entries, and those of people and groups, are
 * shown only.
 */
function levelIn(reply: Values, action: 'push' | 'merge'): Entry | undefined {
  const entries = reply[`${action}_access_levels`] as Entry[];
  const isChangeable = reply.unprotect_access_levels !== undefined && entries.length === 1;
  return isChangeable && entries[0]!.access_level !== null ? entries[0] : undefined;
}

/** The fields that change the level of an action. */
const levelFields = (action: 'push' | 'merge', label: string) => ({
  [`allowed_to_${action}[0][id]`]: {
    kind: 'hidden' as const,
    from: (reply: Values) => levelIn(reply, action)?.id,
    isFor: (reply: Values) => levelIn(reply, action) !== undefined,
  },
  [`allowed_to_${action}[0][access_level]`]: {
    label,
    words,
    help: undefined,
    from: (reply: Values) => levelIn(reply, action)?.access_level,
    isFor: (reply: Values) => levelIn(reply, action) !== undefined,
    refused_as: [`allowed_to_${action}`],
  },
});

const branchPart = (noun: '' | 'Group') =>
  listPart('branch', {
    list: `list${noun}ProtectedBranches`,
    intro:
      noun === 'Group'
        ? 'They are protected in all projects of the group. Patterns such as release/* name several.'
        : 'Nobody can delete a protected branch, and only some can push to it. Patterns such as release/* name several.',
    names: ({ name }) => ({ name: String(name) }),
    title: 'name',
    head: ({ name, inherited }) =>
      html`<code>${String(name)}</code>${inherited === true && html` ${chip('from the group')}`}`,
    line: ({ push_access_levels, merge_access_levels, allow_force_push, code_owner_approval_required }: Values) =>
      html`${rights([
        ['Push', push_access_levels],
        ['Merge', merge_access_levels],
      ])}${allow_force_push === true && html` ${chip('Force push')}`}${code_owner_approval_required === true && html` ${chip('Code owners approve')}`}`,
    empty: 'No branch is protected.',
    create: formOf(
      `create${noun}ProtectedBranch`,
      {
        name: { label: 'Branch or pattern' },
        push_access_level: { label: 'Who may push', words, value: 40 },
        merge_access_level: { label: 'Who may merge', words, value: 40 },
        allow_force_push: { label: 'Allow force pushes', help: undefined },
        code_owner_approval_required: { label: 'Code owners must approve', help: undefined },
      },
      { button: 'Protect', heading: 'Protect a branch' },
    ),
    edit: formOf(
      `update${noun}ProtectedBranch`,
      {
        ...levelFields('push', 'Who may push'),
        ...levelFields('merge', 'Who may merge'),
        allow_force_push: { label: 'Allow force pushes', help: undefined },
        code_owner_approval_required: { label: 'Code owners must approve', help: undefined },
      },
      { button: 'Save' },
    ),
    buttons: {
      remove: {
        runs: `delete${noun}ProtectedBranch`,
        label: 'Unprotect',
        look: 'danger',
        isFor: ({ inherited }) => noun === 'Group' || inherited !== true,
        done: 'The branch is not protected any more.',
      },
    },
  });

export const protectedBranchPages = [
  settingsPage('project', 'branches', [branchPart('')]),
  settingsPage('group', 'branches', [branchPart('Group')]),
];

export const protectedTagsPage = settingsPage('project', 'tags', [
  listPart('tag', {
    list: 'listProtectedTags',
    intro: 'Only some can create or delete a protected tag. Patterns such as v* name several.',
    names: ({ name }) => ({ name: String(name) }),
    title: 'name',
    head: ({ name }) => html`<code>${String(name)}</code>`,
    line: ({ create_access_levels }) => rights([['Create', create_access_levels]]),
    empty: 'No tag is protected.',
    create: formOf(
      'createProtectedTag',
      { name: { label: 'Tag or pattern' }, create_access_level: { label: 'Who may create it', words } },
      { button: 'Protect', heading: 'Protect a tag' },
    ),
    buttons: {
      remove: {
        runs: 'deleteProtectedTag',
        label: 'Unprotect',
        look: 'danger',
        done: 'The tag is not protected any more.',
      },
    },
  }),
]);

const environmentPart = (noun: '' | 'Group') =>
  listPart('environment', {
    list: `list${noun}ProtectedEnvironments`,
    intro: 'Only some can deploy to a protected environment, and others may have to approve it first.',
    names: ({ name }) => ({ name: String(name) }),
    title: 'name',
    line: ({ deploy_access_levels, required_approval_count }: Values) =>
      dotted([
        rights([['Deploy', deploy_access_levels]]),
        Number(required_approval_count) > 0 ? `${required_approval_count} approvals` : '',
      ]),
    empty: 'No environment is protected.',
    create: formOf(
      `create${noun}ProtectedEnvironment`,
      {
        name: { label: noun === 'Group' ? 'Tier' : 'Environment' },
        'deploy_access_levels[0][access_level]': {
          label: 'Who may deploy',
          words: protectionWords,
          value: 40,
          help: undefined,
          refused_as: ['deploy_access_levels'],
        },
        required_approval_count: { label: 'Approvals that a deployment needs', help: undefined },
      },
      { button: 'Protect', heading: 'Protect an environment' },
    ),
    edit: formOf(
      `update${noun}ProtectedEnvironment`,
      { required_approval_count: { label: 'Approvals that a deployment needs', help: undefined } },
      { button: 'Save' },
    ),
    buttons: {
      remove: {
        runs: `delete${noun}ProtectedEnvironment`,
        label: 'Unprotect',
        look: 'danger',
        done: 'The environment is not protected any more.',
      },
    },
  });

export const protectedEnvironmentPages = [
  settingsPage('project', 'environments', [environmentPart('')]),
  settingsPage('group', 'environments', [environmentPart('Group')]),
];
