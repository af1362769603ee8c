/** Views of epics. */
import { epicKind } from '../../../access/index.ts';
import type { Page } from '../../../http/index.ts';
import {
  chip,
  day,
  type Field,
  type Html,
  html,
  person,
  type Seen,
  state,
  time,
  type View,
} from '../../../pages/index.ts';
import type { EpicReply } from '../../work/epics/index.ts';
import type { Award, NoteTexts, Timeline } from '../issuables/definition.ts';
import type { ColouredLabel } from '../issuables/label_queries.ts';
import { type Property, propertiesView } from '../issuables/property_views.ts';
import { timelineView } from '../issuables/timeline_views.ts';
import { labelsView, reactionsView, stateForms, ticksView } from '../issuables/views.ts';
import { childrenView, epicLinksView, issuesView, type ShownEpicIssue, type ShownLink } from './epic_tree_views.ts';

export type ShownEpic = EpicReply;

interface Shown {
  id: string;
  epic: ShownEpic;
  timeline: Timeline;
  children: Page<ShownEpic> | undefined;
  issues: Page<ShownEpicIssue> | undefined;
  links: readonly ShownLink[] | undefined;
  awards: readonly Award[];
  labels: readonly ColouredLabel[];
  changing: readonly Field[] | undefined;
  description: Html | undefined;
  texts: NoteTexts;
}

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

export function epicView(shown: Shown, seen: Seen): View {
  const { id, epic, timeline, children, issues, links, awards, changing, description, texts } = shown;
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
${children && childrenView(seen, children)}
${issues && issuesView(seen, issues)}
${links && epicLinksView(seen, links)}
${timelineView(seen, timeline, texts)}
</div>
<section id="about" data-part="about entries" aria-label="About the epic">
<div class="actions">${seen.may('change') && html`<a class="button" href="${`${epicKind.page(id, epic.iid)}/edit`}">Edit</a>`} ${stateForms(seen, epic.state, epic.subscribed)}</div>
${propertiesView(seen, propertiesOf(shown), changing)}
</section>
</div>`,
  };
}
