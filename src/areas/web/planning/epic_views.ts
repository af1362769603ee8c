/** Views of epics. */
import { epicKind } from '../../../access/index.ts';
import type { Page } from '../../../http/index.ts';
import {
  chip,
  day,
  type Field,
  form,
  type Html,
  hidden,
  html,
  person,
  rows,
  type Seen,
  state,
  time,
  type View,
} from '../../../pages/index.ts';
import type { EpicReply } from '../../work/epics/index.ts';
import type { Award, NoteTexts, Timeline } from '../issuables/definition.ts';
import type { ColouredLabel } from '../issuables/label_queries.ts';
import { pathOf } from '../issuables/present.ts';
import { type Property, propertiesView } from '../issuables/property_views.ts';
import { timelineView } from '../issuables/timeline_views.ts';
import { labelsView, reactionsView, stateForms, ticksView } from '../issuables/views.ts';
import { progressView } from './milestone_views.ts';

export type ShownEpic = EpicReply;

interface EpicIssue {
  title: string;
  state: string;
  web_url: string;
  epic_issue_id: number;
  references: { full: string };
}

interface Shown {
  id: string;
  epic: ShownEpic;
  timeline: Timeline;
  children: Page<ShownEpic> | undefined;
  issues: Page<EpicIssue> | undefined;
  awards: readonly Award[];
  labels: readonly ColouredLabel[];
  changing: readonly Field[] | undefined;
  description: Html | undefined;
  texts: NoteTexts;
}

/** An epic in a list. */
export const epicRow = (epic: ShownEpic): Html =>
  html`<a class="title" href="${pathOf(epic.web_url)}">${epic.title}</a> ${labelsView(epic.labels, pathOf(epic.web_url))}${epic.state === 'closed' && state(epic.state)}
<div class="soft">&amp;${epic.iid} created ${time(epic.created_at)} by ${person(epic.author)}${epic.due_date && html`, due ${day(epic.due_date)}`}</div>`;

const propertiesOf = ({ epic, labels, id }: Shown): readonly Property[] => [
  { name: 'labels', label: 'Labels', shown: labels.length > 0 && labelsView(labels, epicKind.page(id, epic.iid)) },
  { name: 'start_date', label: 'Start', shown: day(epic.start_date) },
  { name: 'due_date', label: 'Due', shown: day(epic.due_date) },
  {
    label: 'Parent',
    shown:
      epic.parent_iid !== null && html`<a href="${epicKind.page(id, epic.parent_iid)}">&amp;${epic.parent_iid}</a>`,
  },
  { name: 'color', label: 'Colour', shown: epic.color },
  { name: 'confidential', label: 'Confidential', shown: epic.confidential && 'Only members can see it' },
];

function issuesView(seen: Seen, issues: NonNullable<Shown['issues']>): Html {
  const closed = issues.items.filter((each) => each.state === 'closed').length;
  return html`<h2>Issues</h2>${progressView(closed, issues.items.length)}${rows(
    issues.items.map(
      (each) =>
        html`${state(each.state)} <a href="${pathOf(each.web_url)}">${each.title}</a> <span class="soft">${each.references.full}</span> ${form(
          seen,
          'remove_issue',
          {
            fields: [hidden('epic_issue_id', each.epic_issue_id)],
            button: html`Remove<span class="visually-hidden"> ${each.title}</span>`,
            look: 'plain',
            key: each.epic_issue_id,
          },
        )}`,
    ),
    'There are no issues in it. The page of an issue has its epic.',
  )}${issues.has_more && html`<p class="soft">Only the first ${issues.items.length} are shown.</p>`}`;
}

export function epicView(shown: Shown, seen: Seen): View {
  const { id, epic, timeline, children, issues, awards, changing, description, texts } = shown;
  return {
    title: [epic.title, `&${epic.iid}`, id],
    heading: html`${epic.title} <span class="soft">&amp;${epic.iid}</span>`,
    place: { id, kind: 'group', tab: 'epics' },
    main: html`<p>${state(epic.state)} ${epic.confidential && chip('Confidential', 'lock')} Created ${time(epic.created_at)} by ${person(epic.author)}</p>
<div class="columns">
<div>
<h2 class="visually-hidden">Description</h2>
<div class="text">${description ?? html`<p class="soft">No description.</p>`}</div>
${ticksView(seen, description, epic.description)}
${reactionsView(seen, awards)}
${
  children &&
  (children.items.length > 0 || seen.may('change')) &&
  html`<h2>Child epics</h2>${rows(children.items.map(epicRow), 'There are none.')}`
}${
  seen.may('change') &&
  html`<details><summary>New child epic</summary>${form(seen, 'add_child', {
    fields: [{ name: 'title', label: 'Title', is_required: true, maximum: 255 }],
    button: 'Create child epic',
    look: 'plain',
  })}</details>`
}
${issues && issuesView(seen, issues)}
${timelineView(seen, timeline, texts)}
</div>
<section id="about" data-part="about entries" aria-label="About the epic">
<div class="actions">${seen.may('change') && html`<a class="button" href="${`${epicKind.page(id, epic.iid)}/edit`}">Edit</a>`} ${stateForms(seen, epic.state, epic.subscribed)}</div>
${propertiesView(seen, propertiesOf(shown), changing)}
</section>
</div>`,
  };
}
