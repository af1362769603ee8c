/** Preferences of the visitor: how pages look, and what they are told. */
import { pageBelow } from '../../../access/index.ts';
import type { Values } from '../../../http/index.ts';
import { html, type Option, type PageCall } from '../../../pages/index.ts';
import { fieldsOf, formOf, part, settingsPage } from '../declared/definition.ts';
import { formPart, reading } from '../declared/form_present.ts';

/** The time zones that browsers know, in the order of their names. */
const zones: readonly Option[] = ['UTC', ...Intl.supportedValuesOf('timeZone').filter((name) => name !== 'UTC')].map(
  (value) => ({ value, label: value.replaceAll('_', ' ') }),
);

export const preferencesPage = settingsPage('own', 'preferences', [
  formPart('look', {
    ...formOf(
      'updatePagePreferences',
      {
        theme: {
          words: {
            auto: 'As the system',
            light: 'Light',
            dark: 'Dark',
            dimmed: 'Dimmed',
            contrast: 'High contrast',
          },
        },
        times: {
          label: 'Times',
          words: { relative: 'How long ago: 3 hours ago', absolute: 'When: 28 Nov 2026, 22:04' },
        },
        time_zone: { label: 'Time zone', kind: 'select', options: zones, help: undefined },
        diffs: { label: 'Changes', words: { inline: 'In one column', side_by_side: 'Side by side' } },
        tab_width: { label: 'Width of a tab in code', words: { 2: '2', 4: '4', 8: '8' } },
        keys: { label: 'Keys on pages of files, t and y' },
      },
      { button: 'Save preferences' },
    ),
    reads: reading('getPagePreferences'),
  }),
  formPart('changes', {
    ...formOf(
      'updateOwnPreferences',
      {
        view_diffs_file_by_file: { label: 'Show changes file by file' },
        show_whitespace_in_diffs: { label: 'Show changes of white space' },
      },
      { heading: 'Changes', button: 'Save' },
    ),
    reads: reading('getOwnPreferences'),
  }),
]);

const levels = {
  global: 'As for everything',
  watch: 'All that happens',
  participating: 'Where you take part',
  mention: 'Where you are mentioned',
  custom: 'As chosen below',
  disabled: 'Nothing',
};

const levelOptions = (isGlobal: boolean): Option[] =>
  Object.entries(levels)
    .filter(([value]) => !isGlobal || value !== 'global')
    .map(([value, label]) => ({ value, label }));

const event = (name: string, label: string) => ({
  label,
  help: undefined,
  from: ({ events }: Values) => (events as Values | undefined)?.[name] ?? false,
});

/** The events of the level `custom`. */
const events = fieldsOf({
  new_issue: event('new_issue', 'New issues'),
  close_issue: event('close_issue', 'Issues that are closed'),
  reopen_issue: event('reopen_issue', 'Issues that are reopened'),
  reassign_issue: event('reassign_issue', 'Issues with other assignees'),
  issue_due: event('issue_due', 'Issues that are due'),
  new_note: event('new_note', 'Comments'),
  new_merge_request: event('new_merge_request', 'New merge requests'),
  push_to_merge_request: event('push_to_merge_request', 'Pushes to merge requests'),
  close_merge_request: event('close_merge_request', 'Merge requests that are closed'),
  reopen_merge_request: event('reopen_merge_request', 'Merge requests that are reopened'),
  merge_merge_request: event('merge_merge_request', 'Merge requests that are merged'),
  reassign_merge_request: event('reassign_merge_request', 'Merge requests with other assignees'),
  change_reviewer_merge_request: event('change_reviewer_merge_request', 'Merge requests with other reviewers'),
  failed_pipeline: event('failed_pipeline', 'Pipelines that fail'),
  fixed_pipeline: event('fixed_pipeline', 'Pipelines that pass again'),
  success_pipeline: event('success_pipeline', 'Pipelines that pass'),
  new_release: event('new_release', 'Releases'),
  moved_project: event('moved_project', 'Projects that move'),
  new_error: event('new_error', 'New errors'),
  regressed_error: event('regressed_error', 'Errors that happen again'),
  error_alert: event('error_alert', 'Errors that happen too often'),
  new_vulnerability: event('new_vulnerability', 'New vulnerabilities'),
});

/** Projects have no epics. */
const allEvents = fieldsOf({ ...events, new_epic: event('new_epic', 'New epics') });

/** The most places that are listed. */
const listed = 100;

/** The groups and projects of the visitor, with the pages on which they say what they are told of each. */
const places = part<{ groups: string[]; projects: string[] }>({
  async load({ described }) {
    const [groups, projects] = await Promise.all([
      described('listGroups', { min_access_level: 10, per_page: listed }),
      described('listProjects', { membership: true, simple: true, per_page: listed }),
    ]);
    const pathsIn = (reply: unknown, name: string) =>
      (reply as { items: Values[] }).items.map((each) => String(each[name]));
    return { groups: pathsIn(groups.reply, 'full_path'), projects: pathsIn(projects.reply, 'path_with_namespace') };
  },
  view: ({ groups, projects }) => html`<h2>For one group or project</h2>
<ul class="rows">${groups.map((path) => html`<li><a href="${pageBelow.group(path, 'notifications')}">${path}</a> <span class="soft">group</span></li>`)}${projects.map((path) => html`<li><a href="${pageBelow.project(path, 'notifications')}">${path}</a></li>`)}</ul>`,
});

const levelField = (isGlobal: boolean) =>
  ({ label: 'You are told of', kind: 'select', options: levelOptions(isGlobal), help: undefined }) as const;

export const notificationsPage = settingsPage('own', 'notifications', [
  formPart('notifications', {
    ...formOf(
      'updateOwnNotificationSettings',
      {
        level: levelField(true),
        notification_email: { label: 'Mail goes to', help: 'Left empty, to your main address.' },
        ...allEvents,
      },
      { button: 'Save' },
    ),
    reads: reading('getOwnNotificationSettings'),
  }),
  formPart('own_activity', {
    ...formOf(
      'updateOwnPreferences',
      { notified_of_own_activity: { label: 'Also of what you do yourself', help: undefined } },
      { button: 'Save', look: 'plain' },
    ),
    reads: reading('getOwnPreferences'),
  }),
  places,
]);

const titleOf = async ({ params: { id } }: PageCall) => `Notifications of ${id}`;

export const placeNotificationPages = [
  settingsPage(
    'own',
    'notifications',
    [
      formPart('notifications', {
        ...formOf('updateProjectNotificationSettings', { level: levelField(false), ...events }, { button: 'Save' }),
        reads: reading('getProjectNotificationSettings'),
      }),
    ],
    { path: '/:id/-/notifications', titled: titleOf, operation: 'getProjectNotificationSettings' },
  ),
  settingsPage(
    'own',
    'notifications',
    [
      formPart('notifications', {
        ...formOf(
          'updateGroupNotificationSettings',
          {
            level: levelField(false),
            notification_email: { label: 'Mail goes to', help: 'Left empty, to your main address.' },
            ...allEvents,
          },
          { button: 'Save' },
        ),
        reads: reading('getGroupNotificationSettings'),
      }),
    ],
    { path: '/groups/:id/-/notifications', titled: titleOf, operation: 'getGroupNotificationSettings' },
  ),
];
