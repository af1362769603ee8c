/** Views of an issue. */
import type { Static } from 'typebox';
import { issueKind } from '../../../access/index.ts';
import type { Page } from '../../../http/index.ts';
import {
  type Content,
  chip,
  day,
  facts,
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
import { pathOf } from '../issuables/present.ts';
import { timelineView } from '../issuables/timeline_views.ts';
import { labelsView, reactionsView, stateForms } from '../issuables/views.ts';

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
}

const words = (value: string | null | undefined): string | undefined => value?.replaceAll('_', ' ');

const factsView = ({ issue }: ShownIssue): Html =>
  facts([
    ['Assignees', issue.assignees.length > 0 && people(issue.assignees)],
    ['Labels', issue.labels.length > 0 && labelsView(issue.labels, pathOf(issue.web_url))],
    ['Milestone', issue.milestone && html`<a href="${pathOf(issue.milestone.web_url)}">${issue.milestone.title}</a>`],
    ['Due', day(issue.due_date)],
    ['Weight', issue.weight],
    ['Epic', issue.epic && html`<a href="${issue.epic.url}">${issue.epic.title}</a>`],
    [
      'Iteration',
      issue.iteration &&
        html`<a href="${pathOf(issue.iteration.web_url)}">${issue.iteration.title ?? `${issue.iteration.start_date} – ${issue.iteration.due_date}`}</a>`,
    ],
    ['Health', words(issue.health_status)],
    ['Kind', issue.issue_type !== 'issue' && words(issue.issue_type)],
    ['Time spent', issue.time_stats.human_total_time_spent],
    ['Time estimated', issue.time_stats.human_time_estimate],
    ['Tasks', issue.task_status],
    ['Closed by', issue.closed_by && html`${person(issue.closed_by)} ${time(issue.closed_at)}`],
  ]);

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
  const { issue, place, description, timeline, texts, links, related, closing, awards } = shown;
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
${reactionsView(seen, awards)}
${linkRows(links)}
${mergeRequestRows('Merge requests that close this issue', closing)}
${mergeRequestRows('Other related merge requests', without(related, closing))}
${timelineView(seen, timeline, texts)}
</div>
<section aria-label="About the issue">
<div class="actions">${seen.may('close') && html`<a class="button" href="${`${issueKind.page(full_path, issue.iid)}/edit`}">Edit</a>`} ${stateForms(seen, issue.state, issue.subscribed)}</div>
${factsView(shown)}
</section>
</div>`,
  };
}
