/** Webhooks of projects, groups and the server: which events they send, a test, and what was sent. */
import type { Values } from '../../../http/index.ts';
import {
  type Content,
  chip,
  type Field,
  form,
  hidden,
  html,
  type Operation,
  rows,
  state,
} from '../../../pages/index.ts';
import { fieldsOf, formOf, part, settingsPage } from '../declared/definition.ts';
import { fieldsFor, formPart, reading } from '../declared/form_present.ts';
import { listPart } from '../declared/list_present.ts';
import { textOf } from '../declared/views.ts';

type Noun = 'Project' | 'Group' | 'System';

const addressFields = fieldsOf({
  url: { label: 'Address' },
  name: {},
  description: {},
  token: { label: 'Secret token', autocomplete: 'off' },
  signing_token: { label: 'Signing key', autocomplete: 'off' },
  enable_ssl_verification: { label: 'Check its certificate', value: true, help: undefined },
  push_events_branch_filter: { label: 'Only these branches' },
  branch_filter_strategy: {
    label: 'They are given as',
    words: { wildcard: 'A pattern with *', regex: 'A regular expression', all_branches: 'All branches' },
    help: undefined,
  },
  custom_webhook_template: { label: 'Template of the body', kind: 'area' },
});

const event = (label: string, value = false) => ({ label, value, help: undefined });

const systemEvents = fieldsOf({
  push_events: event('Pushes to branches'),
  tag_push_events: event('Pushes of tags'),
  merge_requests_events: event('Merge requests'),
  repository_update_events: event('Pushes, once for all branches and tags', true),
});

const events = fieldsOf({
  push_events: event('Pushes to branches', true),
  tag_push_events: event('Pushes of tags'),
  issues_events: event('Issues'),
  confidential_issues_events: event('Confidential issues'),
  note_events: event('Comments'),
  confidential_note_events: event('Internal comments'),
  merge_requests_events: event('Merge requests'),
  milestone_events: event('Milestones'),
  emoji_events: event('Reactions'),
  job_events: event('Jobs'),
  pipeline_events: event('Pipelines'),
  deployment_events: event('Deployments'),
  releases_events: event('Releases'),
  feature_flag_events: event('Feature flags'),
  wiki_page_events: event('Pages of the wiki'),
  error_events: event('Errors of applications'),
  vulnerability_events: event('New vulnerabilities'),
  resource_access_token_events: event('Access tokens that expire soon'),
});

const eventsOf = { System: systemEvents, Project: events, Group: events } as const;

/** The events that a hook asks for, in words. */
const eventWords = (hook: Values): string[] =>
  Object.entries({ ...events, ...systemEvents }).flatMap(([name, { label }]) => (hook[name] === true ? [label] : []));

/** The parameter that names a hook: those of the server have another one. */
const keyOf = (noun: Noun) => (noun === 'System' ? 'id' : 'hook_id');

const hookPart = (noun: Noun) =>
  listPart('hook', {
    list: `list${noun}Hooks`,
    intro: 'When something happens, its description is sent to an address of yours.',
    names: ({ id }) => ({ [keyOf(noun)]: Number(id) }),
    title: ({ name, url }) => String(name || url),
    head: ({ id, name, url }, { path }) => html`<a href="${`${path}/${id}`}">${String(name || url)}</a>`,
    line: (hook) =>
      html`${hook.name !== null && hook.name !== '' && html`<div>${textOf(hook, 'url')}</div>`}${statusChip(hook)}${eventWords(hook).join(', ')}`,
    empty: 'There are no webhooks.',
    create: formOf(
      `create${noun}Hook`,
      { ...addressFields, ...eventsOf[noun] },
      { button: 'Add the webhook', heading: 'New webhook' },
    ),
    buttons: {
      remove: { runs: `delete${noun}Hook`, label: 'Delete', look: 'danger', done: 'The webhook is deleted.' },
    },
  });

/** Why a hook is not called, if it is not. */
const statusChip = ({ alert_status }: Values): Content =>
  typeof alert_status === 'string' &&
  alert_status !== 'executable' &&
  html`${chip(alert_status.replaceAll('_', ' '), 'alert')} `;

/** The events of a test, in the order of the form. */
const triggers = Object.fromEntries(Object.entries(events).map(([name, { label }]) => [name, label]));

const pathsOf = { Project: '/:id/-/hooks/:hook_id', Group: '/groups/:id/-/hooks/:hook_id' } as const;
const mapOf = { Project: 'project', Group: 'group' } as const;

const json = (value: unknown): string => (typeof value === 'string' ? value : JSON.stringify(value, null, 2));

const deliveries = (noun: 'Project' | 'Group') =>
  listPart('delivery', {
    heading: 'What was sent',
    list: `list${noun}HookEvents`,
    names: ({ id }) => ({ hook_event_id: Number(id) }),
    title: ({ id, trigger }) => `${triggers[String(trigger)] ?? String(trigger).replaceAll('_', ' ')} (${id})`,
    line: ({ url, response_status, execution_duration, request_data, request_headers, response_body }) =>
      html`${state(/^2/.test(String(response_status)) ? 'success' : 'failed')} ${String(response_status)} after ${String(execution_duration)} s, at ${String(url)}
<details><summary>Request and answer</summary><pre>${json(request_headers)}</pre><pre>${json(request_data)}</pre><pre>${String(response_body)}</pre></details>`,
    empty: 'Nothing has been sent in the last days.',
    buttons: {
      resend: { runs: `resend${noun}HookEvent`, label: 'Send again', done: 'Sent again.' },
    },
  });

/** The names of a hook's values, of which the values are never shown. */
const namesPart = (
  noun: 'Project' | 'Group',
  name: string,
  {
    member,
    set,
    unset,
    heading,
    label,
  }: Record<'member' | 'heading' | 'label', string> & { set: Operation; unset: Operation },
) =>
  part<{ keys: string[]; fields: readonly Field[] }>({
    forms: { [`set_${name}`]: { runs: set }, [`unset_${name}`]: { runs: unset } },
    done: { [`set_${name}`]: 'Saved.', [`unset_${name}`]: 'Removed.' },
    async load(call) {
      const hook = await reading(`get${noun}Hook`)(call);
      const declared = {
        runs: set,
        fields: { key: { label }, value: { autocomplete: 'new-password', kind: 'password' } },
      } as const;
      return {
        keys: (hook[member] as { key: string }[]).map(({ key }) => key),
        fields: await fieldsFor(call, declared),
      };
    },
    view: ({ keys, fields }, seen) => html`<h2>${heading}</h2>
${rows(
  keys.map(
    (key) =>
      html`<code>${key}</code> ${form(seen, `unset_${name}`, {
        fields: [hidden('key', key)],
        button: html`Remove <span class="visually-hidden">${key}</span>`,
        look: 'danger',
        key,
      })}`,
  ),
  'There are none.',
)}
${form(seen, `set_${name}`, { fields, button: 'Set it', look: 'plain' })}`,
  });

const hookPage = (noun: 'Project' | 'Group') =>
  settingsPage(
    mapOf[noun],
    'hooks',
    [
      formPart('test', {
        ...formOf(
          `test${noun}Hook`,
          { trigger: { label: 'Event', words: triggers } },
          { heading: 'Try it', button: 'Send a test', done: 'A test was sent. What came back is below.' },
        ),
      }),
      deliveries(noun),
      formPart('hook', {
        ...formOf(
          `update${noun}Hook`,
          { ...addressFields, ...events },
          { heading: 'Address and events', button: 'Save' },
        ),
        reads: reading(`get${noun}Hook`),
      }),
      namesPart(noun, 'header', {
        member: 'custom_headers',
        set: `set${noun}HookCustomHeader`,
        unset: `delete${noun}HookCustomHeader`,
        heading: 'Own headers',
        label: 'Header',
      }),
      namesPart(noun, 'variable', {
        member: 'url_variables',
        set: `set${noun}HookUrlVariable`,
        unset: `delete${noun}HookUrlVariable`,
        heading: 'Variables of the address',
        label: 'Variable',
      }),
    ],
    {
      path: pathsOf[noun],
      titled: async (call) => {
        const { name, url } = await reading(`get${noun}Hook`)(call);
        return String(name || url);
      },
    },
  );

export const hookPages = [
  settingsPage('project', 'hooks', [hookPart('Project')]),
  settingsPage('group', 'hooks', [hookPart('Group')]),
  hookPage('Project'),
  hookPage('Group'),
];

export const systemHookPages = [
  settingsPage('admin', 'hooks', [hookPart('System')]),
  settingsPage(
    'admin',
    'hooks',
    [
      formPart('test', {
        ...formOf('testSystemHook', {}, { heading: 'Try it', button: 'Send a test', done: 'A test was sent.' }),
      }),
      formPart('hook', {
        ...formOf(
          'updateSystemHook',
          { ...addressFields, ...systemEvents },
          { heading: 'Address and events', button: 'Save' },
        ),
        reads: reading('getSystemHook'),
      }),
    ],
    { path: '/admin/hooks/:id', titled: async (call) => textOf(await reading('getSystemHook')(call), 'url') },
  ),
];
