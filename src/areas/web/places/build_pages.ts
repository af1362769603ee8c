/** Variables, secure files and triggers, and badges and uploaded files of projects and groups. */
import type { Values } from '../../../http/index.ts';
import { type Content, html, time } from '../../../pages/index.ts';
import { fieldsOf, formOf, settingsPage } from '../declared/definition.ts';
import { listPart } from '../declared/list_present.ts';
import { dotted, textOf } from '../declared/views.ts';

const variableFields = fieldsOf({
  value: { kind: 'area' },
  variable_type: { label: 'Kind', words: { env_var: 'Variable', file: 'File' }, help: undefined },
  environment_scope: { label: 'Environments', help: 'A name or a pattern such as review/*. Left empty: all.' },
  protected: { label: 'Only for protected branches and tags', help: undefined },
  masked: { label: 'Masked in logs', help: undefined },
  raw: { label: 'Taken literally: $ names no other variable', help: undefined },
  description: {},
});

const variablePart = (noun: 'Project' | 'Group') =>
  listPart('variable', {
    list: `list${noun}Variables`,
    intro: 'Pipelines get them. Values that nobody may read again are masked and hidden.',
    names: ({ key, environment_scope }) => ({
      key: String(key),
      'filter[environment_scope]': String(environment_scope),
    }),
    title: 'key',
    head: ({ key }) => html`<code>${String(key)}</code>`,
    line: (item) => variableLine(item),
    empty: 'There are no variables.',
    create: formOf(
      `create${noun}Variable`,
      { key: {}, ...variableFields, masked_and_hidden: { label: 'Masked, and never shown again', help: undefined } },
      { button: 'Add the variable', heading: 'New variable' },
    ),
    edit: formOf(`update${noun}Variable`, variableFields, { button: 'Save' }),
    buttons: {
      remove: { runs: `delete${noun}Variable`, label: 'Delete', look: 'danger', done: 'The variable is deleted.' },
    },
  });

function variableLine({
  environment_scope,
  protected: isProtected,
  masked,
  hidden,
  variable_type,
  description,
}: Values): Content {
  const where = environment_scope === '*' ? 'All environments' : `In ${environment_scope}`;
  return dotted(
    [
      where,
      variable_type === 'file' && 'File',
      isProtected === true && 'Protected',
      hidden === true ? 'Hidden' : masked === true && 'Masked',
      description === null ? '' : String(description),
    ].filter((each) => each !== false),
  );
}

const triggerFields = fieldsOf({ description: { help: 'What uses the token.' } });

const triggerPart = listPart('trigger', {
  heading: 'Triggers',
  list: 'listPipelineTriggers',
  intro: 'With a token, a program starts pipelines in the name of its owner, who alone sees it whole.',
  names: ({ id }) => ({ trigger_id: Number(id) }),
  title: 'description',
  line: ({ token, last_used, owner }) => html`<code>${textOf({ token }, 'token')}</code>
<div class="soft">By ${textOf(owner as Values, 'name')}, ${last_used === null ? 'never used' : ['last used ', time(String(last_used))]}</div>`,
  empty: 'There are no triggers.',
  create: formOf('createPipelineTrigger', triggerFields, { button: 'Add the trigger', heading: 'New trigger' }),
  edit: formOf('updatePipelineTrigger', triggerFields, { button: 'Save' }),
  buttons: {
    remove: { runs: 'deletePipelineTrigger', label: 'Delete', look: 'danger', done: 'The trigger is deleted.' },
  },
});

const secureFilePart = listPart('secure_file', {
  heading: 'Secure files',
  list: 'listSecureFiles',
  intro: 'Keys, certificates and the like, which jobs of protected branches and tags may download.',
  names: ({ id }) => ({ secure_file_id: Number(id) }),
  title: 'name',
  line: ({ checksum, created_at, expires_at }) => html`<code>${textOf({ checksum }, 'checksum')}</code>
<div class="soft">Uploaded ${time(textOf({ created_at }, 'created_at'))}${
    expires_at !== null && html`, ends ${time(String(expires_at))}`
  }</div>`,
  empty: 'There are no secure files.',
  create: formOf('createSecureFile', fieldsOf({ name: {}, file: {} }), {
    button: 'Upload the file',
    heading: 'New secure file',
  }),
  buttons: {
    remove: { runs: 'deleteSecureFile', label: 'Delete', look: 'danger', done: 'The secure file is deleted.' },
  },
});

export const variablePages = [
  settingsPage('project', 'variables', [variablePart('Project'), secureFilePart, triggerPart]),
  settingsPage('group', 'variables', [variablePart('Group')]),
];

const badgeFields = fieldsOf({
  name: {},
  link_url: { label: 'Address that it leads to' },
  image_url: { label: 'Address of the picture' },
});

const badgePart = (noun: 'Project' | 'Group') =>
  listPart('badge', {
    list: `list${noun}Badges`,
    intro: 'Small pictures above the files. %{project_path}, %{default_branch} and the like are replaced.',
    only: ({ kind }) => kind === noun.toLowerCase(),
    names: ({ id }) => ({ badge_id: Number(id) }),
    title: ({ name, link_url }) => String(name || link_url),
    line: ['link_url', 'image_url'],
    empty: 'There are no badges.',
    create: formOf(`create${noun}Badge`, badgeFields, { button: 'Add the badge', heading: 'New badge' }),
    edit: formOf(`update${noun}Badge`, badgeFields, { button: 'Save' }),
    buttons: { remove: { runs: `delete${noun}Badge`, label: 'Delete', look: 'danger', done: 'The badge is deleted.' } },
  });

export const badgeSettingsPages = [
  settingsPage('project', 'badges', [badgePart('Project')]),
  settingsPage('group', 'badges', [badgePart('Group')]),
];

const uploadPart = (noun: 'Project' | 'Group') =>
  listPart('upload', {
    list: `list${noun}Uploads`,
    intro: 'Files that were attached to texts. Without one, the texts show a broken link.',
    names: ({ id }) => ({ upload_id: Number(id) }),
    title: 'filename',
    line: ({ size, created_at, uploaded_by }) =>
      html`${Math.ceil(Number(size) / 1024)} KiB, ${time(textOf({ created_at }, 'created_at'))}${
        uploaded_by !== null && uploaded_by !== undefined && html` by @${textOf(uploaded_by as Values, 'username')}`
      }`,
    empty: 'No file was uploaded.',
    buttons: { remove: { runs: `delete${noun}Upload`, label: 'Delete', look: 'danger', done: 'The file is deleted.' } },
  });

export const uploadPages = [
  settingsPage('project', 'uploads', [uploadPart('Project')]),
  settingsPage('group', 'uploads', [uploadPart('Group')]),
];
