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
  html,
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
import { pathOf } from '../issuables/present.ts';
import { assigningFields, type Property, propertiesView } from '../issuables/property_views.ts';
import { timelineView } from '../issuables/timeline_views.ts';
import { labelsView, reactionsView, stateForms, ticksView } from '../issuables/views.ts';

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
}

const words = (value: string | null | undefined): string | undefined => value?.replaceAll('_', ' ');

/** The properties that are changed in the second column, in the order in which they are read. */
const propertiesOf = ({ issue, labels }: ShownIssue, { caller }: Seen): readonly Property[] => {
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
    { label: 'Time spent', shown: issue.time_stats.human_total_time_spent },
    { label: 'Time estimated', shown: issue.time_stats.human_time_estimate },
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

const linkWords: Record<string, string> = {
  relates_to: 'Relates to',
  blocks: 'Blocks',
  is_blocked_by: 'Is blocked by',
};

const linkRows = (links: ShownIssue['links']): Content =>
  links.length > 0 &&
  html`<h2>Linked issues</h2>${rows(
    links.map(
      (each) =>
        html`${linkWords[each.link_type] ?? each.link_type} <a href="${pathOf(each.web_url)}">${each.title}</a> <span class="soft">${each.references.relative}</span> ${state(each.state)}`,
    ),
    '',
  )}`;

export function issueView(shown: ShownIssue, seen: Seen): View {
  const { issue, place, description, timeline, texts, links, related, closing, awards, changing } = shown;
  const { full_path } = place;
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
${linkRows(links)}
${mergeRequestRows('Merge requests that close this issue', closing)}
${mergeRequestRows('Other related merge requests', without(related, closing))}
${timelineView(seen, timeline, texts)}
</div>
<section id="about" data-part="about entries" aria-label="About the issue">
<div class="actions">${seen.may('close') && html`<a class="button" href="${`${issueKind.page(full_path, issue.iid)}/edit`}">Edit</a>`} ${stateForms(seen, issue.state, issue.subscribed)}</div>
${propertiesView(seen, propertiesOf(shown, seen), changing)}
</section>
</div>`,
  };
}
