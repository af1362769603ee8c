/** Views of an issue. */
import type { Static } from 'typebox';
import { issueKind } from '../../../access/index.ts';
import { type Page, reaches } from '../../../http/index.ts';
import {
  type Content,
  chip,
  day,
  type Field,
  type Html,
  hidden,
  html,
  icon,
  menu,
  people,
  person,
  rows,
  type Seen,
  state,
  time,
  type View,
} from '../../../pages/index.ts';
import type { Issue, LinkedIssueReply } from '../../work/issues/index.ts';
import type { MergeRequestInList } from '../../work/merge_requests/index.ts';
import type { Award, NoteTexts, Timeline } from '../issuables/definition.ts';
import type { ColouredLabel } from '../issuables/label_queries.ts';
import { linksView } from '../issuables/link_views.ts';
import { pathOf } from '../issuables/present.ts';
import { assigningFields, type Property, propertiesView } from '../issuables/property_views.ts';
import { timeProperty } from '../issuables/time_views.ts';
import { timelineView } from '../issuables/timeline_views.ts';
import { labelsView, reactionsView, stateForms, ticksView } from '../issuables/views.ts';
import { metricsView, type ShownMetric } from './metric_views.ts';

type MergeRequests = Page<Static<typeof MergeRequestInList>> | undefined;

export interface ShownIssue {
  issue: Static<typeof Issue>;
  place: { full_path: string };
  description: Html | undefined;
  timeline: Timeline;
  texts: NoteTexts;
  links: readonly Static<typeof LinkedIssueReply>[];
  related: MergeRequests;
  closing: MergeRequests;
  awards: readonly Award[];
  labels: readonly ColouredLabel[];
  /** The controls of the property that is being changed. */
  changing: readonly Field[] | undefined;
  /** The metric images of an incident. */
  metrics: Page<ShownMetric> | undefined;
  mayDelete: boolean;
}

const words = (value: string | null | undefined): string | undefined => value?.replaceAll('_', ' ');

/** The properties that are changed in the second column, in the order in which they are read. */
const propertiesOf = ({ issue, labels }: ShownIssue, seen: Seen): readonly Property[] => {
  const { caller } = seen;
  const address = pathOf(issue.web_url);
  const [assigned, plan] = [issue.assignees.map(({ id }) => id), caller?.plan ?? 'free'];
  const others = reaches(plan, 'premium') ? assigned : [];
  return [
    {
      name: 'assignees',
      label: 'Assignees',
      shown: issue.assignees.length > 0 && people(issue.assignees),
      shortcut:
        caller && !assigned.includes(caller.id)
          ? { button: 'Assign to me', fields: assigningFields('assignee_ids', [...others, caller.id]) }
          : undefined,
    },
    { name: 'labels', label: 'Labels', shown: labels.length > 0 && labelsView(labels, address) },
    {
      name: 'milestone',
      label: 'Milestone',
      shown: issue.milestone && html`<a href="${pathOf(issue.milestone.web_url)}">${issue.milestone.title}</a>`,
    },
    ...(reaches(plan, 'premium')
      ? [
          {
            name: 'iteration_id',
            label: 'Iteration',
            shown:
              issue.iteration &&
              html`<a href="${pathOf(issue.iteration.web_url)}">${issue.iteration.title ?? `${issue.iteration.start_date} – ${issue.iteration.due_date}`}</a>`,
          },
        ]
      : []),
    { name: 'due_date', label: 'Due date', shown: day(issue.due_date) },
    ...(reaches(plan, 'premium')
      ? [
          { name: 'weight', label: 'Weight', shown: issue.weight },
          {
            name: 'epic_id',
            label: 'Epic',
            shown: issue.epic && html`<a href="${issue.epic.url}">${issue.epic.title}</a>`,
          },
        ]
      : []),
    ...(reaches(plan, 'ultimate')
      ? [{ name: 'health_status', label: 'Health', shown: words(issue.health_status) }]
      : []),
    { name: 'confidential', label: 'Confidential', shown: issue.confidential && 'Only members can see it' },
    { label: 'Kind', shown: issue.issue_type !== 'issue' && words(issue.issue_type) },
    timeProperty(seen, issue.time_stats),
    { label: 'Tasks', shown: issue.task_status },
    { label: 'Closed by', shown: issue.closed_by && html`${person(issue.closed_by)} ${time(issue.closed_at)}` },
  ];
};

const mergeRequestRows = (title: string, found: MergeRequests): Content =>
  found &&
  found.items.length > 0 &&
  html`<h2>${title}</h2>${rows(
    found.items.map(
      (each) =>
        html`${state(each.state)} <a href="${pathOf(each.web_url)}">${each.title}</a> <span class="soft">${each.references?.full}</span>`,
    ),
    '',
  )}${found.has_more && html`<p class="soft">Only the first ${found.items.length} are shown.</p>`}`;

/** The merge requests that are not in another list. */
const without = (found: MergeRequests, others: MergeRequests): MergeRequests =>
  found && { ...found, items: found.items.filter(({ id }) => !others?.items.some((other) => other.id === id)) };

/** What is done on pages of its own. @param own the address of the issue */
const moreMenu = (own: string, mayDelete: boolean): Html =>
  menu(
    html`${icon('dots')}<span class="visually-hidden">More</span>`,
    html`<ul><li><a href="${`${own}/move`}">${icon('folder')}Move or copy</a></li>
${mayDelete && html`<li><a href="${`${own}/delete`}">${icon('trash')}Delete</a></li>`}</ul>`,
  );

export function issueView(shown: ShownIssue, seen: Seen): View {
  const { issue, place, description, timeline, texts, links, related, closing, awards, changing, metrics, mayDelete } =
    shown;
  const { full_path } = place;
  const own = issueKind.page(full_path, issue.iid);
  return {
    title: [issue.title, `#${issue.iid}`, full_path],
    heading: html`${issue.title} <span class="soft">#${issue.iid}</span>`,
    place: { id: full_path, kind: 'project', tab: 'issues' },
    ...(issue.confidential ? {} : { is_public: true as const }),
    main: html`<p>${state(issue.state)} ${issue.confidential && chip('Confidential', 'lock')} ${
      issue.discussion_locked && chip('Locked')
    } Opened ${time(issue.created_at)} by ${person(issue.author)}</p>
<div class="columns">
<div>
<h2 class="visually-hidden">Description</h2>
<div class="text">${description ?? html`<p class="soft">No description.</p>`}</div>
${ticksView(seen, description, issue.description)}
${reactionsView(seen, awards)}
${metrics && metricsView(seen, metrics)}
${linksView(seen, {
  kind: 'issue',
  links,
  nameOf: ({ issue_link_id }) => hidden('issue_link_id', issue_link_id),
  mayBlock: reaches(seen.caller?.plan ?? 'free', 'premium'),
})}
${mergeRequestRows('Merge requests that close this issue', closing)}
${mergeRequestRows('Other related merge requests', without(related, closing))}
${timelineView(seen, timeline, texts)}
</div>
<section id="about" data-part="about entries" aria-label="About the issue">
<div class="actions">${seen.may('close') && html`<a class="button" href="${`${own}/edit`}">Edit</a>`} ${stateForms(seen, issue.state, issue.subscribed)} ${seen.may('change') && moreMenu(own, mayDelete)}</div>
${propertiesView(seen, propertiesOf(shown, seen), changing)}
</section>
</div>`,
  };
}
