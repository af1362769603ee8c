/** The mirrors of a project (docs/reference/mirrors.md#the-page). */
import type { Static } from 'typebox';
import { pagePath } from '../../../foundation/addresses.ts';
import { ApiError, type Page as ListPage } from '../../../http/index.ts';
import {
  type Content,
  chip,
  type Field,
  form,
  hidden,
  html,
  type PageCall,
  type PageForm,
  pager,
  pagingOf,
  rows,
  type Seen,
  time,
} from '../../../pages/index.ts';
import { PullMirror, RemoteMirror } from '../../code/mirrors/index.ts';
import { part, settingsPage } from '../declared/definition.ts';

export const mirrorsPage = pagePath('/:project/-/settings/repository');

interface Shown {
  pushed: ListPage<Static<typeof RemoteMirror>>;
  /** The pull mirror of the project. */
  pulled: Static<typeof PullMirror> | undefined;
  mayPull: boolean;
}

/** Undefined if there is none, or the plan does not include it. */
async function pulledFrom({ one }: PageCall): Promise<Shown['pulled']> {
  try {
    return await one(PullMirror, 'getPullMirror');
  } catch (error) {
    if (error instanceof ApiError && [400, 403].includes(error.status)) return undefined;
    throw error;
  }
}

async function load(call: PageCall): Promise<Shown> {
  const { list, may, query } = call;
  const [pushed, pulled, mayPull] = await Promise.all([
    list(RemoteMirror, 'listRemoteMirrors', pagingOf({ query })),
    pulledFrom(call),
    may('setPullMirror'),
  ]);
  return { pushed, pulled, mayPull };
}

/** The status of a mirror, and its last error. */
const stateView = (mirror: Static<typeof RemoteMirror> | Static<typeof PullMirror>): Content =>
  html`${chip(mirror.enabled ? mirror.update_status.replace('_', ' ') : 'off')}
<div class="soft">${mirror.last_update_at ? ['Last run ', time(mirror.last_update_at)] : 'It has not run yet'}${
    mirror.last_successful_update_at && [', last success ', time(mirror.last_successful_update_at)]
  }</div>
${mirror.last_error && html`<pre class="reason">${mirror.last_error}</pre>`}`;

/** What is chosen about a mirror. */
const choices = [
  { name: 'only_protected_branches', label: 'Only protected branches', kind: 'checkbox' },
  { name: 'keep_divergent_refs', label: 'Leave what has other commits there', kind: 'checkbox' },
] as const satisfies readonly Field[];

function pushedView(mirror: Static<typeof RemoteMirror>, seen: Seen): Content {
  const buttonFor = (name: string, label: string, look: 'plain' | 'danger') =>
    form(seen, name, {
      fields: [hidden('mirror_id', mirror.id)],
      button: html`${label} <span class="visually-hidden">${mirror.url}</span>`,
      look,
      key: mirror.id,
    });
  return html`<code>${mirror.url}</code> ${stateView(mirror)}
<details><summary>Change</summary>${form(seen, 'change', {
    fields: [
      hidden('mirror_id', mirror.id),
      { name: 'enabled', label: 'Push to it', kind: 'checkbox', value: mirror.enabled },
      ...choices.map((field) => ({ ...field, value: mirror[field.name] })),
    ],
    button: 'Save the mirror',
    key: mirror.id,
  })}</details>
<div class="actions">${mirror.enabled && buttonFor('sync', 'Run now', 'plain')}${buttonFor('remove', 'Remove', 'danger')}</div>`;
}

const url: Field = {
  name: 'url',
  label: 'Address',
  is_required: true,
  maximum: 2048,
  help: 'With user and password inside, e.g. https://user:password@example.com/group/project.git.',
};

const newMirror: readonly Field[] = [url, ...choices];

const pulledView = (mirror: NonNullable<Shown['pulled']>, seen: Seen): Content =>
  html`<p><code>${mirror.url}</code> ${stateView(mirror)}</p>
${mirror.public_key !== null && html`<p>The key with which it signs in, to be admitted there:</p><pre>${mirror.public_key}</pre>`}
<div class="actions">${form(seen, 'pull', { button: 'Run now', look: 'plain' })}${form(seen, 'end_pull', { button: 'Stop following', look: 'danger' })}</div>`;

const newPull: readonly Field[] = [
  url,
  {
    name: 'mirror_overwrites_diverged_branches',
    label: 'Overwrite branches that have other commits here',
    kind: 'checkbox',
  },
];

const forms: Readonly<Record<string, PageForm>> = {
  add: { runs: 'createRemoteMirror', parameters: { enabled: true } },
  change: { runs: 'updateRemoteMirror' },
  sync: { runs: 'syncRemoteMirror' },
  remove: { runs: 'deleteRemoteMirror' },
  follow: { runs: 'setPullMirror', parameters: { enabled: true } },
  pull: { runs: 'syncPullMirror' },
  end_pull: { runs: 'setPullMirror', parameters: { enabled: false } },
};

export const mirrorSettingsPage = settingsPage('project', 'mirrors', [
  part({
    forms,
    done: {
      add: 'The mirror is added.',
      change: 'Saved.',
      sync: 'It runs.',
      remove: 'The mirror is removed.',
      pull: 'It runs.',
    },
    load,
    view: ({ pushed, pulled, mayPull }, seen) => html`<h2>Where the repository is pushed to</h2>
${rows(
  pushed.items.map((mirror) => pushedView(mirror, seen)),
  'The repository is pushed nowhere.',
)}
${pager(pushed, seen)}
<h3>Push it to another server</h3>
<p>After each change, branches and tags there become as they are here.</p>
${form(seen, 'add', { fields: newMirror, button: 'Add the mirror' })}
${
  (pulled !== undefined || mayPull) &&
  html`<h2>What the project follows</h2>
${
  pulled
    ? pulledView(pulled, seen)
    : html`<p>Every half hour, branches and tags of another server come here.</p>
${form(seen, 'follow', { fields: newPull, button: 'Follow it' })}`
}`
}`,
  }),
]);
