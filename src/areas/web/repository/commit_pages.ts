/** The history of a ref, and a commit with its changes. */
import { filePage, type PageCall, page, pagingOf } from '../../../pages/index.ts';
import { CommitStatus } from '../../code/commit_statuses/index.ts';
import { blobPage, CommitDetail, CommitRef, Diff, ListedCommit } from '../../code/repository/index.ts';
import { Discussion } from '../../conversation/discussions/index.ts';
import { ProjectWithAccessForm } from '../../spaces/projects/index.ts';
import { MergeRequestInList } from '../../work/merge_requests/index.ts';
import { textsAt } from '../diffs/file_queries.ts';
import type { Thread } from '../issuables/definition.ts';
import { afterLineComment } from '../issuables/line_views.ts';
import { textsOf } from '../issuables/timeline_present.ts';
import { commitView, type History, historyView, type ShownCommit } from './commit_views.ts';
import { refNames, refPathOf } from './ref_queries.ts';

const filters = ['author', 'since', 'until'] as const;

/** The filters of the list; empty fields are ignored. */
const filtersIn = ({ query }: PageCall) =>
  Object.fromEntries(
    filters.flatMap((name) => (query[name] === undefined || query[name] === '' ? [] : [[name, query[name]]])),
  );

/** The default branch, unless the repository is empty. */
async function defaultPlace(call: PageCall) {
  const { default_branch } = await call.one(ProjectWithAccessForm, 'getProject');
  return default_branch === undefined ? undefined : call.perhaps(refPathOf(call, default_branch));
}

async function loadHistory(call: PageCall): Promise<History> {
  const place = call.params.ref_path === undefined ? await defaultPlace(call) : await refPathOf(call);
  const refs = place && refNames(call);
  const commits = await call.list(ListedCommit, 'listCommits', {
    ...(place ? { ref_name: place.commit.id, path: place.path } : {}),
    ...filtersIn(call),
    per_page: 40,
    ...pagingOf(call),
  });
  return { id: call.params.id!, place, commits, refs: await refs };
}

export const historyPages = page('/:id/-/commits/*ref_path', { is_costly: true, load: loadHistory, view: historyView });
export const defaultHistoryPage = page('/:id/-/commits', { is_costly: true, load: loadHistory, view: historyView });

/** Comments beyond this number are available only in the API. */
const mostThreads = 100;

const toComments = (_reply: never, { path }: PageCall) => `${path}#comments`;

/** The new comment, below its line. */
const toLine = (reply: never, call: PageCall): string =>
  afterLineComment(call, (reply as { body?: Partial<Thread> }).body?.notes?.[0]?.id);

/** The text pages come first, because a ref name could have the same ending. */
export const commitTextPages = (['diff', 'patch'] as const).map((format) =>
  filePage(`/:id/-/commit/:sha.${format}`, ({ bytes }) => bytes('getCommitText', { format })),
);

export const commitPages = page('/:id/-/commit/:commit_id', {
  is_costly: true,
  async load(call): Promise<ShownCommit> {
    const { id = '', commit_id } = call.params;
    const commit = await call.one(CommitDetail, 'getCommit', { sha: commit_id });
    const sha = commit.id;
    const [refs, statuses, merge_requests, threads] = await Promise.all([
      call.perhaps(call.list(CommitRef, 'listCommitRefs', { sha, per_page: 20 })),
      call.perhaps(call.list(CommitStatus, 'listCommitStatuses', { sha, per_page: 20 })),
      call.perhaps(call.list(MergeRequestInList, 'listMergeRequestsOfCommit', { sha, per_page: 20 })),
      call.list(Discussion, 'showCommitDiscussions', { commit_id: sha, per_page: mostThreads }),
    ]);
    const { texts } = await textsOf(call, { kind: 'project', id: commit.project_id, full_path: id }, threads.items);
    const [parent] = commit.parent_ids;
    return {
      id,
      commit,
      refs,
      statuses,
      merge_requests,
      threads,
      texts,
      diffs: {
        page: (paging) => call.list(Diff, 'listCommitDiffs', { sha, ...paging }),
        textOf: textsAt(call, sha),
        owner: commit.project_id,
        fileAt: (side, path) =>
          side === 'new' ? blobPage(id, sha, path) : parent === undefined ? undefined : blobPage(id, parent, path),
      },
    };
  },
  forms: {
    comment: { runs: 'createCommitDiscussion', next: toComments },
    line: { runs: 'createCommitDiscussion', next: toLine },
    reply: { runs: 'createCommitDiscussionNote', next: toComments },
    edit_note: { runs: 'updateCommitDiscussionNote', next: toComments },
    remove_note: { runs: 'deleteCommitDiscussionNote', next: toComments },
  },
  view: commitView,
});
