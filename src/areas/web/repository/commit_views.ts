/** Views of commits. */
import type { Static } from 'typebox';
import { commitKind, pageBelow } from '../../../access/index.ts';
import type { Page as ListPage } from '../../../http/index.ts';
import {
  type Content,
  facts,
  filterForm,
  form,
  type Html,
  html,
  pager,
  type Seen,
  time,
  type View,
} from '../../../pages/index.ts';
import { counted } from '../../../texts/index.ts';
import type { CommitStatus } from '../../code/commit_statuses/index.ts';
import { type CommitDetail, type CommitRef, type ListedCommit, treePage } from '../../code/repository/index.ts';
import type { MergeRequestInList } from '../../work/merge_requests/index.ts';
import { type DiffSource, diffPieces } from '../diffs/views.ts';
import type { NoteTexts, Thread } from '../issuables/definition.ts';
import { diffsAsked, lineAddresses, saidAbout, threadRemarks } from '../issuables/line_views.ts';
import { threadView } from '../issuables/timeline_views.ts';
import { bodyField } from '../issuables/views.ts';
import { tagPage } from './address_rules.ts';
import type { RefPath } from './ref_queries.ts';
import { refSwitch, type ShownRefs } from './ref_views.ts';
import { pathLinks } from './tree_views.ts';

export interface History {
  id: string;
  /** Undefined for an empty repository. */
  place: RefPath | undefined;
  refs: ShownRefs | undefined;
  commits: ListPage<Static<typeof ListedCommit>>;
}

export interface ShownCommit {
  id: string;
  commit: Static<typeof CommitDetail>;
  /** The branches and tags that contain the commit. */
  refs: ListPage<Static<typeof CommitRef>> | undefined;
  statuses: ListPage<Static<typeof CommitStatus>> | undefined;
  merge_requests: ListPage<Static<typeof MergeRequestInList>> | undefined;
  /** Comments, each with its replies. */
  threads: ListPage<Thread>;
  texts: NoteTexts;
  diffs: DiffSource;
}

type CommitInList = History['commits']['items'][number];

/** A commit in a list. */
export const commitRow = (
  id: string,
  {
    id: sha,
    short_id,
    title,
    author_name,
    committed_date,
  }: Pick<CommitInList, 'id' | 'short_id' | 'title' | 'author_name' | 'committed_date'>,
): Html =>
  html`<li><a class="title" href="${commitKind.page(id, sha)}" rel="nofollow">${title === '' ? 'No message' : title}</a>
<div class="soft">${author_name} committed ${time(committed_date)} · <code>${short_id}</code></div></li>`;

export function historyView({ id, place, refs, commits }: History, seen: Seen): View {
  const days = Map.groupBy(commits.items, ({ committed_date }) => new Date(committed_date).toISOString().slice(0, 10));
  return {
    feed: `${pageBelow.project(id, 'commits.atom')}${place?.ref ? `?ref_name=${encodeURIComponent(place.ref)}` : ''}`,
    title: ['Commits', place ? [place.path, place.ref].filter(Boolean).join(' · ') : '', id].filter(Boolean),
    heading: place?.path ? html`Commits of ${place.path}` : 'Commits',
    place: { id, kind: 'project', tab: 'commits' },
    main: html`${place && refs && html`<div class="bar">${refSwitch(place, 'commits', refs, seen)}${place.path !== '' && pathLinks(place, id.slice(id.lastIndexOf('/') + 1))}</div>`}
${filterForm(
  seen,
  [
    { name: 'author', label: 'Author' },
    { name: 'since', label: 'Since', kind: 'date' },
    { name: 'until', label: 'Until', kind: 'date' },
  ],
  'Search',
)}
${commits.items.length === 0 && html`<p class="soft">There are no commits here.</p>`}
${[...days].map(([day, those]) => html`<h2><time datetime="${day}">${day}</time></h2><ul class="rows">${those.map((commit) => commitRow(id, commit))}</ul>`)}
${pager(commits, seen)}`,
  };
}

const parentLinks = ({ id, commit }: ShownCommit): Content =>
  commit.parent_ids.map(
    (parent, index) =>
      html`${index > 0 && ', '}<a href="${commitKind.page(id, parent)}"><code>${parent.slice(0, 8)}</code></a>`,
  );

const refLinks = ({ id, refs }: ShownCommit): Content =>
  refs &&
  refs.items.length > 0 &&
  html`${refs.items.map(
    ({ type, name }, index) =>
      html`${index > 0 && ', '}<a href="${type === 'tag' ? tagPage(id, name) : treePage(id, name)}">${type} ${name}</a>`,
  )}${refs.has_more && ' and others'}`;

const person = (name: string, email: string): Html => html`${name} &lt;${email}&gt;`;

const pipelineLink = ({ last_pipeline }: ShownCommit['commit']): Content =>
  last_pipeline &&
  html`<p><span class="${`state state-${last_pipeline.status}`}">${last_pipeline.status}</span> <a href="${new URL(last_pipeline.web_url).pathname}">Pipeline #${last_pipeline.iid}</a> of ${last_pipeline.ref}</p>
`;

const statusRows = ({ statuses, commit }: ShownCommit): Content =>
  statuses &&
  statuses.items.length > 0 &&
  html`<h2>Statuses</h2>
${pipelineLink(commit)}<ul class="rows">${statuses.items.map(
    ({ name, status, target_url, description }) =>
      html`<li><span class="${`state state-${status}`}">${status}</span> ${target_url ? html`<a href="${target_url}" rel="nofollow noreferrer">${name}</a>` : name} ${description && html`<span class="soft">${description}</span>`}</li>`,
  )}</ul>`;

const mergeRequestRows = ({ merge_requests }: ShownCommit): Content =>
  merge_requests &&
  merge_requests.items.length > 0 &&
  html`<h2>Merge requests</h2>
<ul class="rows">${merge_requests.items.map(
    ({ web_url, title, iid }) => html`<li><a href="${new URL(web_url).pathname}">!${iid} ${title}</a></li>`,
  )}</ul>`;

/** Whether a thread is about a line of the changes. */
const isAtLine = ({ notes }: Thread): boolean => (notes[0]?.position ?? undefined) !== undefined;

function commentsView({ threads, texts }: ShownCommit, seen: Seen): Content {
  return html`<section aria-labelledby="comments"><h2 id="comments">${counted(threads.items.length, 'comment')}</h2>
${threads.items.filter((thread) => !isAtLine(thread)).map((thread) => threadView(seen, thread, texts))}
${threads.has_more && html`<p class="soft">Only the first ${threads.items.length} are shown.</p>`}
${form(seen, 'comment', { fields: [bodyField('Comment')], button: 'Comment' })}
</section>`;
}

/** The changes with the comments on their lines. */
function withComments({ commit, threads, texts, diffs }: ShownCommit, seen: Seen): DiffSource {
  const base_sha = commit.parent_ids[0] ?? '0'.repeat(commit.id.length);
  const refs = { base_sha, start_sha: base_sha, head_sha: commit.id };
  const remarks = threadRemarks(seen, threads.items.filter(isAtLine), texts);
  const said = saidAbout(seen, remarks, { refs, form: 'line', may_suggest: false });
  const commentAt = seen.may('line') ? lineAddresses(seen) : undefined;
  return { ...diffs, said, ...(commentAt && { commentAt }) };
}

async function* commitPieces(shown: ShownCommit, seen: Seen): AsyncGenerator<Html> {
  const { id, commit } = shown;
  const body = commit.message.slice(commit.title.length).trim();
  const isCommitter = commit.committer_name !== commit.author_name || commit.committer_email !== commit.author_email;
  yield html`${body !== '' && html`<pre>${body}</pre>`}
${facts([
  ['Commit', html`<code>${commit.id}</code>`],
  [commit.parent_ids.length > 1 ? 'Parents' : 'Parent', commit.parent_ids.length > 0 && parentLinks(shown)],
  ['Author', html`${person(commit.author_name, commit.author_email)} ${time(commit.authored_date)}`],
  [
    'Committer',
    isCommitter && html`${person(commit.committer_name, commit.committer_email)} ${time(commit.committed_date)}`,
  ],
  ['In', refLinks(shown)],
  ['Changes', commit.stats && `${counted(commit.stats.additions, 'line')} added, ${commit.stats.deletions} removed`],
])}
<p class="actions"><a href="${treePage(id, commit.id)}" rel="nofollow">Files of this commit</a>
<a href="${`${commitKind.page(id, commit.id)}.diff`}" rel="nofollow">Diff</a> <a href="${`${commitKind.page(id, commit.id)}.patch`}" rel="nofollow">Patch</a>${
    seen.caller &&
    html` <a href="${`${commitKind.page(id, commit.id)}/cherry_pick`}">Cherry-pick</a> <a href="${`${commitKind.page(id, commit.id)}/revert`}">Revert</a>`
  }</p>
${statusRows(shown)}
${mergeRequestRows(shown)}
${commentsView(shown, seen)}`;
  yield* diffPieces(withComments(shown, seen), diffsAsked(seen));
}

export function commitView(shown: ShownCommit, seen: Seen): View {
  const { id, commit } = shown;
  return {
    title: [commit.title === '' ? 'No message' : commit.title, commit.short_id, id],
    place: { id, kind: 'project', tab: 'commits' },
    main: commitPieces(shown, seen),
  };
}
