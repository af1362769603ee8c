/** The runners of projects, groups and the instance (docs/reference/runners.md#pages). */
import type { Values } from '../../../http/index.ts';
import { chip, html, type PageCall, time } from '../../../pages/index.ts';
import { fieldsOf, formOf, settingsPage } from '../declared/definition.ts';
import { formPart, reading } from '../declared/form_present.ts';
import { listPart } from '../declared/list_present.ts';
import { dotted, onceView } from '../declared/views.ts';

const statusWords: Readonly<Record<string, string>> = {
  online: 'Online',
  offline: 'Offline',
  stale: 'Not heard of for a week',
  never_contacted: 'Never heard of',
};

const accessWords = { not_protected: 'Of all branches and tags', ref_protected: 'Of protected branches and tags only' };

const fields = fieldsOf({
  description: { label: 'Name' },
  tag_list: { label: 'Tags', help: 'Jobs with tags are for runners that have all of them.', refused_as: ['tags_list'] },
  run_untagged: { label: 'It takes jobs without tags', help: undefined },
  access_level: { label: 'Jobs that it takes', words: accessWords, help: undefined },
  maximum_timeout: { label: 'Seconds that a job may take', help: 'At least 600. Left empty: as the project says.' },
  maintenance_note: { label: 'Note', kind: 'area', help: undefined },
});

const locking = fieldsOf({ locked: { label: 'It cannot be assigned to further projects', help: undefined } });

/** What a new runner starts with. */
const usual = {
  run_untagged: { ...fields.run_untagged, value: true },
  access_level: { ...fields.access_level, value: 'not_protected' },
};

/** The new token, with what to type on the machine. */
function installing({ token }: Values, { path, services: { url } }: PageCall) {
  const shown = onceView('The new runner', [['Token', token]], path);
  return {
    ...shown,
    main: html`<p>Where gitlab-runner is installed, type:</p>
<pre><code>gitlab-runner register --non-interactive --executor shell --url ${url} --token ${String(token)}
gitlab-runner run</code></pre>
${shown.main}`,
  };
}

const tokenOnce =
  (title: string) =>
  (reply: Values, { path }: PageCall) =>
    onceView(title, [['Token', reply.token]], path);

const nameOf = ({ id, description }: Values) => (description === '' ? `Runner ${id}` : String(description));

function lineOf({ id, status, contacted_at, paused, run_untagged, job_execution_status, ip_address, ...item }: Values) {
  return dotted([
    `Number ${id}`,
    html`${statusWords[String(status)]}${status === 'offline' && [', last heard of ', time(String(contacted_at))]}`,
    job_execution_status === 'active' ? 'Has a job' : '',
    paused === true ? chip('Paused') : '',
    item.access_level === 'ref_protected' ? 'Protected branches and tags only' : '',
    run_untagged === true ? '' : 'Only jobs with tags',
    (item.tag_list as string[]).map((tag) => [chip(tag), ' ']),
    ip_address === null ? '' : String(ip_address),
  ]);
}

const buttons = {
  pause: {
    runs: 'updateRunner',
    label: 'Pause',
    parameters: { paused: true },
    isFor: ({ paused }: Values) => paused === false,
    done: 'It takes no new jobs.',
  },
  resume: {
    runs: 'updateRunner',
    label: 'Resume',
    parameters: { paused: false },
    isFor: ({ paused }: Values) => paused === true,
    done: 'It takes jobs again.',
  },
  reset: { runs: 'resetRunnerToken', label: 'New token', is_sensitive: true, shows: installing },
  remove: { runs: 'deleteRunner', label: 'Delete', look: 'danger', done: 'The runner is deleted.' },
} as const;

type Type = 'project_type' | 'group_type' | 'instance_type';

const lists = { project: 'listProjectRunners', group: 'listGroupRunners', admin: 'listAllRunners' } as const;

/** What of a list is of the place itself, with the forms that change it. */
const ownPart = (map: keyof typeof lists, runner_type: Type, starts?: (call: PageCall) => Promise<Values>) =>
  listPart('runner', {
    list: lists[map],
    intro: 'Programs on other machines that execute jobs. They connect to this server.',
    given: () => (map === 'admin' ? {} : { type: runner_type }),
    names: ({ id }) => ({ runner_id: Number(id) }),
    title: nameOf,
    line: lineOf,
    empty: 'There are no runners.',
    create: formOf(
      'createRunner',
      {
        ...(starts && { [runner_type === 'project_type' ? 'project_id' : 'group_id']: { kind: 'hidden' } }),
        ...fields,
        ...usual,
        ...(runner_type === 'project_type' && locking),
      },
      {
        parameters: { runner_type },
        button: 'Make the runner',
        heading: 'New runner',
        is_sensitive: true,
        shows: installing,
        ...(starts && { starts }),
      },
    ),
    edit: formOf('updateRunner', { ...fields, ...(runner_type === 'project_type' && locking) }, { button: 'Save' }),
    buttons,
  });

/** Runners of a place above, which are only shown. */
const abovePart = (map: 'project' | 'group', type: Type, heading: string, empty: string) =>
  listPart(type, {
    list: lists[map],
    heading,
    given: () => ({ type }),
    names: ({ id }) => ({ runner_id: Number(id) }),
    title: nameOf,
    line: lineOf,
    empty,
  });

const ofInstance = (map: 'project' | 'group') =>
  abovePart(map, 'instance_type', 'Runners of the instance', 'None of them takes jobs here.');

const registering = (
  runs: 'resetInstanceRegistrationToken' | 'resetGroupRegistrationToken' | 'resetProjectRegistrationToken',
) =>
  formPart('registration', {
    ...formOf(
      runs,
      {},
      {
        heading: 'Registration token',
        intro: 'With it, runners add themselves. A new one ends the one before it.',
        button: 'Make a new registration token',
        is_sensitive: true,
        shows: tokenOnce('The registration token'),
      },
    ),
  });

export const runnerPages = [
  settingsPage('project', 'runners', [
    ownPart('project', 'project_type', async (call) => ({ project_id: (await reading('getProject')(call)).id })),
    abovePart('project', 'group_type', 'Runners of the groups above', 'None of them takes jobs here.'),
    ofInstance('project'),
    formPart('runners', {
      ...formOf(
        'updateProject',
        {
          group_runners_enabled: { label: 'Runners of the groups above take jobs', help: undefined },
          shared_runners_enabled: { label: 'Runners of the instance take jobs', help: undefined },
        },
        { heading: 'Whose runners take jobs', button: 'Save changes' },
      ),
      reads: reading('getProject'),
    }),
    registering('resetProjectRegistrationToken'),
  ]),
  settingsPage('group', 'runners', [
    ownPart('group', 'group_type', async (call) => ({ group_id: (await reading('getGroup')(call)).id })),
    ofInstance('group'),
    formPart('runners', {
      ...formOf(
        'updateGroup',
        {
          shared_runners_setting: {
            label: 'Runners of the instance',
            words: {
              enabled: 'Take jobs of the projects below',
              disabled_and_overridable: 'Take none, unless a project says so',
              disabled_and_unoverridable: 'Take none',
            },
            help: undefined,
          },
          allow_runner_registration_token: { label: 'Runners may register with a token', help: undefined },
        },
        { heading: 'Whose runners take jobs', button: 'Save changes' },
      ),
      reads: reading('getGroup'),
    }),
    registering('resetGroupRegistrationToken'),
  ]),
  settingsPage('admin', 'runners', [ownPart('admin', 'instance_type'), registering('resetInstanceRegistrationToken')]),
];
