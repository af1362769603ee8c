/** Parts of the pages of issues and merge requests. */

import {
  type Content,
  type Field,
  fieldOf,
  filterForm,
  filterName,
  form,
  type Html,
  hidden,
  html,
  label,
  type Option,
  refusalIn,
  type Seen,
  withQuery,
} from '../../../pages/index.ts';
import { emojiOf } from '../../conversation/award_emoji/index.ts';
import type { Award } from './definition.ts';
import { wordsOfQuery } from './filter_rules.ts';

/** The text of a comment, which error messages call a note. */
export const bodyField = (label: string, more: Pick<Field, 'value' | 'help'> = {}): Field => ({
  name: 'body',
  label,
  kind: 'markdown',
  is_required: true,
  refused_as: ['note'],
  ...more,
});

type Labels = readonly (string | { name: string; color: string })[];

/**
 * The labels of an item, each with a link to the items that have it, too.
 * @param address the path of the item, below the path of its list
 */
export function labelsView(labels: Labels, address: string): Content {
  const list = address.slice(0, address.lastIndexOf('/'));
  return labels.map((each) => {
    const { name, color } = typeof each === 'string' ? { name: each, color: undefined } : each;
    return html`${label(name, color, `${list}?${new URLSearchParams({ labels: name })}`)} `;
  });
}

/** The tabs for the states of a list, with counts if known. @param parameter of the query that names the state */
export const statesView = (
  seen: Seen,
  current: string,
  states: readonly (readonly [state: string, title: string, count?: number])[],
  parameter: 'state' | 'status' | 'scope' | 'tab' = 'state',
): Html =>
  html`<nav class="tabs" aria-label="States"><ul>${states.map(
    ([state, title, count]) =>
      html`<li><a href="${withQuery(seen, { [parameter]: state, page: undefined, cursor: undefined })}" ?aria-current="${state === current && 'page'}">${title}${count !== undefined && html` <span class="soft">${count}</span>`}</a></li>`,
  )}</ul></nav>`;

const orders = [
  { value: '', label: 'Newest first' },
  { value: 'created_asc', label: 'Oldest first' },
  { value: 'updated_desc', label: 'Last change first' },
  { value: 'updated_asc', label: 'Last change last' },
] as const;

/** What a filter does not change: the tab of the state, and what a list of everything shows. */
const keptIn = ({ query }: Seen, ...names: string[]): readonly Field[] =>
  names.flatMap((name) => (typeof query[name] === 'string' ? [hidden(name, query[name])] : []));

/** The filters in words, which lead to the same address as the fields (`filterPage`). */
const filterLine = (seen: Seen): Html =>
  html`<form method="get" action="${`${seen.path}/filter`}" class="filters"><div class="field grow"><label for="words">Filter</label><input type="text" id="words" name="words" value="${wordsOfQuery(seen.query)}" placeholder="label:bug author:me no:milestone -label:later ladder" spellcheck="false"></div>${keptIn(
    seen,
    'state',
    'scope',
    'sort',
  ).map((field) => fieldOf(field, 'words', undefined))}<button>Filter</button></form>`;

/** The filters of a list, in words and as fields; the state does not change. @param more fields in addition to the shared ones */
export const filtersView = (seen: Seen, more: readonly Field[] = []): Html =>
  html`${filterLine(seen)}
<details ?open="${refusalIn(seen, filterName) !== undefined}"><summary>All filters</summary>${filterForm(
    seen,
    [
      { name: 'search', label: 'Search' },
      { name: 'labels', label: 'Labels' },
      { name: 'author_username', label: 'Author' },
      { name: 'assignee_username', label: 'Assignee' },
      { name: 'milestone', label: 'Milestone' },
      { name: 'release_tag', label: 'Release' },
      ...more,
      { name: 'sort', label: 'Order', kind: 'select', options: orders },
      ...keptIn(seen, 'state'),
    ],
    'Apply',
  )}</details>`;

/** A box that chooses an item of a list for the form below it. @param name the number of the item */
export const chooseBox = (seen: Seen, form: string, iid: number, name: string): Content =>
  seen.may(form) &&
  html`<input type="checkbox" name="iids[]" value="${iid}" form="${form}" aria-label="${`Choose ${name}`}" ?checked="${[seen.refused?.values.iids].flat().includes(String(iid))}"> `;

/** The form that changes what was chosen in a list. */
export function bulkForm(seen: Seen, states: readonly Option[]): Content {
  const fields: readonly Field[] = [
    {
      name: 'state_event',
      label: 'State',
      kind: 'select',
      options: [{ value: '', label: 'Leave as it is' }, ...states],
    },
    { name: 'add_labels', label: 'Add labels', help: 'Separated by commas.' },
    { name: 'remove_labels', label: 'Remove labels' },
  ];
  const changing = form(seen, 'bulk', {
    fields,
    button: 'Change the chosen ones',
    look: 'plain',
    action: withQuery(seen, {}),
  });
  return (
    changing &&
    html`<details class="bulk" ?open="${seen.refused?.name === 'bulk'}"><summary>Change several</summary>${changing}</details>`
  );
}

/** Reactions that are offered even if nobody has used them yet. */
const offered = ['thumbsup', 'thumbsdown', 'heart', 'tada', 'eyes'];

/** Reactions with their counts; signed-in users can add and remove their own. */
export function reactionsView(seen: Seen, awards: readonly Award[]): Html {
  const byName = Map.groupBy(awards, ({ name }) => name);
  const names = [...byName.keys(), ...(seen.may('react') ? offered.filter((name) => !byName.has(name)) : [])];
  return html`<div class="actions" role="group" aria-label="Reactions">${names.map((name) => {
    const given = byName.get(name) ?? [];
    const own = given.find(({ user }) => user.id === seen.caller?.id);
    const text = html`<span aria-hidden="true">${emojiOf(name) ?? name}</span><span class="visually-hidden">${name.replaceAll('_', ' ')}</span> ${given.length > 0 && given.length}`;
    if (!seen.may('react')) return html`<span class="chip">${text}</span>`;
    const field = own ? { name: 'award_id', value: own.id } : { name: 'name', value: name };
    return form(seen, own ? 'unreact' : 'react', {
      fields: [{ ...field, label: '', kind: 'hidden' }],
      button: text,
      look: own ? 'own' : 'plain',
      key: name,
    });
  })}</div>`;
}

/** The forms to close, reopen and subscribe, and to put it on one's own to-do list. */
export const stateForms = (seen: Seen, state: string, subscribed: boolean | undefined): Content => [
  state === 'opened' && form(seen, 'close', { button: 'Close', look: 'plain' }),
  state === 'closed' && form(seen, 'reopen', { button: 'Reopen', look: 'plain' }),
  ' ',
  subscribed
    ? form(seen, 'unsubscribe', { button: 'Unsubscribe', look: 'plain' })
    : form(seen, 'subscribe', { button: 'Subscribe', look: 'plain' }),
  ' ',
  form(seen, 'add_todo', { button: 'Add to my to-dos', look: 'plain' }),
];

/**
 * The form below a text with boxes.
 * @param shown the text as HTML, whose boxes name the form
 * @param note the comment, if it is one
 */
export function ticksView(
  seen: Seen,
  shown: Html | undefined,
  text: string | null,
  note?: { id: number; discussion_id: string },
): Html | undefined {
  if (!shown?.text.includes('<input type="hidden" name="boxes[]"')) return undefined;
  const target = note ? [hidden('discussion_id', note.discussion_id), hidden('note_id', note.id)] : [];
  const parts = { fields: target, edited: [text ?? ''], button: 'Save ticks', look: 'plain' } as const;
  return html`${note ? form(seen, 'tick_note', { ...parts, key: note.id }) : form(seen, 'tick', parts)}`;
}
