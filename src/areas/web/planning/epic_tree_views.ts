/** What belongs to an epic: its child epics and issues, in their order, and related epics. */
import type { Static } from 'typebox';
import { forbidden, invalid, type Page } from '../../../http/index.ts';
import {
  day,
  type Field,
  form,
  type Html,
  hidden,
  html,
  type PageCall,
  type PageForm,
  person,
  refusalIn,
  rows,
  type Seen,
  state,
  time,
} from '../../../pages/index.ts';
import { Epic, type EpicReply, type RelatedEpic } from '../../work/epics/index.ts';
import { Issue } from '../../work/issues/index.ts';
import { linksView } from '../issuables/link_views.ts';
import { pathOf } from '../issuables/present.ts';
import { namedIn } from '../issuables/reference_rules.ts';
import { labelsView } from '../issuables/views.ts';
import { progressView } from './milestone_views.ts';

export interface ShownEpicIssue {
  title: string;
  state: string;
  web_url: string;
  epic_issue_id: number;
  references: { full: string };
}
export type ShownLink = Static<typeof RelatedEpic>;

const placeOf = ({ services, params }: PageCall) => ({ parent: params.id!, url: services.url });

/** The forms for child epics and issues. */
export const treeForms = {
  add_child: { runs: 'createChildEpic' },
  adopt: {
    runs: 'addChildEpic',
    takes: async (call, { target }) => {
      // Who may adopt any may adopt each, so that a refusal does not say whether the other epic exists.
      if (!(await call.may('addChildEpic', { child_epic_id: 0 }))) throw forbidden();
      const { path, iid } = await namedIn('epic', target, placeOf(call));
      const { id } = await call.one(Epic, 'getEpic', { ...(path !== null && { id: path }), epic_iid: iid });
      return { child_epic_id: id };
    },
  },
  move_child: { runs: 'reorderChildEpic' },
  remove_child: { runs: 'removeChildEpic' },
  add_issue: {
    runs: 'addEpicIssue',
    takes: async (call, { target }) => {
      const { path, iid } = await namedIn('issue', target, placeOf(call));
      if (path === null) throw invalid({ target: ['needs its project, such as project#3'] });
      const { id } = await call.one(Issue, 'getProjectIssue', { id: path, issue_iid: iid });
      return { issue_id: id };
    },
  },
  move_issue: { runs: 'reorderEpicIssue' },
  remove_issue: { runs: 'removeEpicIssue' },
} as const satisfies Record<string, PageForm>;

/** An epic in a list. */
export const epicRow = (epic: EpicReply): Html =>
  html`<a class="title" href="${pathOf(epic.web_url)}">${epic.title}</a> ${labelsView(epic.labels, pathOf(epic.web_url))}${epic.state === 'closed' && state(epic.state)}
<div class="soft">&amp;${epic.iid} created ${time(epic.created_at)} by ${person(epic.author)}${epic.due_date && html`, due ${day(epic.due_date)}`}</div>`;

interface Ordered {
  /** The field that names one, and its id. */
  parameter: 'child_epic_id' | 'epic_issue_id';
  ids: readonly number[];
  titles: readonly string[];
  move: 'move_child' | 'move_issue';
  remove: 'remove_child' | 'remove_issue';
}

/** The buttons of one of several in an order: up, down and remove. */
function orderButtons(seen: Seen, { parameter, ids, titles, move, remove }: Ordered, index: number): Html {
  const [id, title] = [ids[index]!, titles[index]!];
  const own = hidden(parameter, id);
  const button = (name: string, word: string, fields: readonly Field[], key: string) =>
    form(seen, name, {
      fields: [own, ...fields],
      button: html`${word}<span class="visually-hidden">: ${title}</span>`,
      look: 'plain',
      key,
    });
  // The API names the neighbours: the one that is to be after it, or before it.
  return html`<div class="actions">${index > 0 && button(move, 'Up', [hidden('move_after_id', ids[index - 1])], `${id}-up`)}${
    index < ids.length - 1 && button(move, 'Down', [hidden('move_before_id', ids[index + 1])], `${id}-down`)
  }${button(remove, 'Remove', [], String(id))}</div>`;
}

/** A form that adds what exists already. */
const addingView = (seen: Seen, name: 'adopt' | 'add_issue', summary: string, label: string, help: string): Html =>
  html`<details ?open="${refusalIn(seen, name) !== undefined}"><summary>${summary}</summary>${form(seen, name, {
    fields: [{ name: 'target', label, help, is_required: true }],
    button: 'Add',
    look: 'plain',
  })}</details>`;

const firstOnly = ({ has_more, items }: Page<unknown>) =>
  has_more && html`<p class="soft">Only the first ${items.length} are shown.</p>`;

/** The child epics, which those who may change the epic order. */
export function childrenView(seen: Seen, children: Page<EpicReply>): Html | undefined {
  const { items } = children;
  const mayChange = seen.may('change');
  if (items.length === 0 && !mayChange) return undefined;
  const ordered: Ordered = {
    parameter: 'child_epic_id',
    ids: items.map(({ id }) => id),
    titles: items.map(({ title }) => title),
    move: 'move_child',
    remove: 'remove_child',
  };
  return html`<h2>Child epics</h2>${rows(
    items.map((each, index) => html`${epicRow(each)}${mayChange && orderButtons(seen, ordered, index)}`),
    'There are none.',
  )}${firstOnly(children)}${
    mayChange &&
    html`<details ?open="${refusalIn(seen, 'add_child') !== undefined}"><summary>New child epic</summary>${form(
      seen,
      'add_child',
      {
        fields: [{ name: 'title', label: 'Title', is_required: true, maximum: 255 }],
        button: 'Create child epic',
        look: 'plain',
      },
    )}</details>${addingView(seen, 'adopt', 'Add an epic that exists', 'Epic', 'Such as 3, group&3, or its address.')}`
  }`;
}

/** The issues, with their progress. Whoever is a member of their projects orders them. */
export function issuesView(seen: Seen, issues: Page<ShownEpicIssue>): Html {
  const { items } = issues;
  const closed = items.filter((each) => each.state === 'closed').length;
  const ordered: Ordered = {
    parameter: 'epic_issue_id',
    ids: items.map(({ epic_issue_id }) => epic_issue_id),
    titles: items.map(({ title }) => title),
    move: 'move_issue',
    remove: 'remove_issue',
  };
  return html`<h2>Issues</h2>${progressView(closed, items.length)}${rows(
    items.map(
      (each, index) =>
        html`${state(each.state)} <a href="${pathOf(each.web_url)}">${each.title}</a> <span class="soft">${each.references.full}</span>${seen.caller && orderButtons(seen, ordered, index)}`,
    ),
    'There are no issues in it.',
  )}${firstOnly(issues)}${seen.may('add_issue') && addingView(seen, 'add_issue', 'Add an issue', 'Issue', 'Such as project#3, or its address.')}`;
}

/** Related epics. */
export const epicLinksView = (seen: Seen, links: readonly ShownLink[]): Html | undefined =>
  linksView(seen, {
    kind: 'epic',
    links,
    nameOf: ({ related_epic_link_id }) => hidden('related_epic_link_id', related_epic_link_id),
    mayBlock: true,
  });
