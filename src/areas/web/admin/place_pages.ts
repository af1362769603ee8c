/** Groups, projects and topics, and roles and accounts of the whole server. */
import { groupMembersPage, groupPage, pageBelow, projectPage } from '../../../access/index.ts';
import { type Field, html, person, time } from '../../../pages/index.ts';
import { fieldsOf, formOf, settingsPage } from '../declared/definition.ts';
import { formPart } from '../declared/form_present.ts';
import { listPart } from '../declared/list_present.ts';
import { dotted, textOf } from '../declared/views.ts';
import { roleLine } from '../places/group_pages.ts';
import { roleNames } from '../places/level_rules.ts';
import { memberRoleFields } from '../places/role_rules.ts';

const filters: readonly Field[] = [
  { name: 'search', label: 'Name or path' },
  {
    name: 'visibility',
    label: 'Visibility',
    kind: 'select',
    options: [
      { value: '', label: 'Any' },
      { value: 'private', label: 'Private' },
      { value: 'internal', label: 'Internal' },
      { value: 'public', label: 'Public' },
    ],
  },
  {
    name: 'archived',
    label: 'Archived',
    kind: 'select',
    options: [
      { value: '', label: 'Any' },
      { value: 'true', label: 'Only archived ones' },
    ],
  },
];

const groupsPage = settingsPage('admin', 'groups', [
  listPart('group', {
    list: 'listGroups',
    given: () => ({ all_available: true }),
    filters,
    names: ({ id }) => ({ id: Number(id) }),
    title: 'full_path',
    head: (group) => html`<a href="${groupPage(textOf(group, 'full_path'))}">${textOf(group, 'full_path')}</a>`,
    line: (group) =>
      dotted([
        textOf(group, 'visibility'),
        html`since ${time(textOf(group, 'created_at'))}`,
        group.marked_for_deletion_on === null ? '' : 'marked for deletion',
        html`<a href="${groupMembersPage(textOf(group, 'full_path'))}">Members</a>`,
        html`<a href="${pageBelow.group(textOf(group, 'full_path'), 'edit')}">Settings</a>`,
      ]),
    empty: 'No group is found.',
  }),
]);

const projectsPage = settingsPage('admin', 'projects', [
  listPart('project', {
    list: 'listProjects',
    given: () => ({ statistics: true }),
    filters,
    names: ({ id }) => ({ id: Number(id) }),
    title: 'path_with_namespace',
    head: (project) => {
      const path = textOf(project, 'path_with_namespace');
      return html`<a href="${projectPage(path)}">${path}</a>`;
    },
    line: (project) => {
      const path = textOf(project, 'path_with_namespace');
      const { storage_size } = (project.statistics ?? {}) as { storage_size?: number };
      return dotted([
        textOf(project, 'visibility'),
        html`active ${time(textOf(project, 'last_activity_at'))}`,
        storage_size === undefined ? '' : `${Math.ceil(storage_size / 1024 / 1024)} MiB`,
        textOf(project, 'repository_storage'),
        project.archived === true ? 'archived' : '',
        project.marked_for_deletion_on === null ? '' : 'marked for deletion',
        html`<a href="${pageBelow.project(path, 'settings/general')}">Settings</a>`,
      ]);
    },
    empty: 'No project is found.',
  }),
]);

const topicFields = fieldsOf({ name: {}, title: {}, description: { kind: 'area' } });

const topicsPage = settingsPage('admin', 'topics', [
  listPart('topic', {
    list: 'listTopics',
    filters: [{ name: 'search', label: 'Name' }],
    names: ({ id }) => ({ id: Number(id) }),
    title: 'title',
    line: ({ name, total_projects_count }) => dotted([textOf({ name }, 'name'), `${total_projects_count} projects`]),
    empty: 'There are no topics.',
    create: formOf('createTopic', topicFields, { button: 'Add the topic', heading: 'New topic' }),
    edit: formOf('updateTopic', topicFields, { button: 'Save' }),
    buttons: { remove: { runs: 'deleteTopic', label: 'Delete', look: 'danger', done: 'The topic is deleted.' } },
  }),
  formPart('merge', {
    ...formOf(
      'mergeTopics',
      {
        source_topic_id: { label: 'Number of the topic that ends' },
        target_topic_id: { label: 'Number of the one that stays' },
      },
      {
        heading: 'Merge two topics',
        button: 'Merge them',
        look: 'danger',
        done: 'The topics are one.',
      },
    ),
  }),
]);

const rolesPage = settingsPage('admin', 'member_roles', [
  listPart('role', {
    list: 'listInstanceMemberRoles',
    intro: 'A role of your own begins with a role that there is, and adds rights. These can be given everywhere.',
    names: ({ id }) => ({ member_role_id: Number(id) }),
    title: 'name',
    line: roleLine,
    empty: 'There are no roles.',
    create: formOf('createInstanceMemberRole', memberRoleFields, { button: 'Create the role', heading: 'New role' }),
    edit: formOf('updateInstanceMemberRole', memberRoleFields, { button: 'Save' }),
    buttons: {
      remove: { runs: 'deleteInstanceMemberRole', label: 'Delete', look: 'danger', done: 'The role is deleted.' },
    },
  }),
]);

const approvalsPage = settingsPage('admin', 'member_approvals', [
  listPart('approval', {
    list: 'listMemberApprovals',
    intro: 'Roles that take a seat, and wait until an administrator allows them.',
    given: () => ({ status: 'pending' }),
    names: ({ id }) => ({ id: Number(id) }),
    title: ({ user }) => textOf((user ?? {}) as Record<string, unknown>, 'username'),
    head: ({ user }) => person(user as never),
    line: ({ access_level, group_id, project_id, requested_by, created_at }) =>
      dotted([
        `${roleNames[String(access_level)]} of ${group_id === null ? `project ${project_id}` : `group ${group_id}`}`,
        html`asked ${time(String(created_at))} by ${person(requested_by as never)}`,
      ]),
    empty: 'No role waits.',
    buttons: {
      approve: { runs: 'approveMemberApproval', label: 'Approve', done: 'They have the role now.' },
      deny: { runs: 'denyMemberApproval', label: 'Deny', look: 'danger', done: 'The role is denied.' },
    },
  }),
]);

const accountFields = fieldsOf({ name: {}, username: {}, email: { label: 'Address' } });

const serviceAccountsPage = settingsPage('admin', 'service_accounts', [
  listPart('account', {
    list: 'listServiceAccounts',
    intro: 'Accounts for programs, which take no seat. Their tokens are made on their pages below Users.',
    names: ({ id }) => ({ user_id: Number(id) }),
    title: 'name',
    head: ({ id, name }) => html`<a href="${`/admin/users/${id}`}">${String(name)}</a>`,
    line: ({ username }) => `@${username}`,
    empty: 'There are no service accounts.',
    create: formOf('createServiceAccount', accountFields, {
      button: 'Create the account',
      heading: 'New service account',
    }),
    edit: formOf('updateServiceAccount', accountFields, { button: 'Save' }),
  }),
]);

export const adminPlacePages = [groupsPage, projectsPage, topicsPage, rolesPage, approvalsPage, serviceAccountsPage];
