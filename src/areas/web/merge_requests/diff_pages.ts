/** The changes of a merge request, in its last version or an earlier one, with the threads on its files. */
import type { Static } from 'typebox';
import { filePage, type Html, html, type PageCall, page, type Seen } from '../../../pages/index.ts';
import { blobPage, Comparison, Diff } from '../../code/repository/index.ts';
import { Discussion } from '../../conversation/discussions/index.ts';
import { MergeRequest, MergeRequestVersion, MergeRequestVersionDetail } from '../../work/merge_requests/index.ts';
import { textsAt } from '../diffs/file_queries.ts';
import { type DiffSource, diffPieces, pagesOfDiffs } from '../diffs/views.ts';
import { errorMarker } from '../errors/mark_views.ts';
import type { Thread } from '../issuables/definition.ts';
import { conversationForms } from '../issuables/form_rules.ts';
import { afterLineComment, diffsAsked, lineAddresses, saidAbout, threadRemarks } from '../issuables/line_views.ts';
import { textsOf } from '../issuables/timeline_present.ts';
import { draftButton } from '../issuables/timeline_views.ts';
import { draftsOf, draftView, reviewBox, reviewForms, withTexts } from './review_views.ts';
import { lookedAt, markFile, openThreads, openThreadsView, sinceThen, viewedMarks, withNext } from './viewing_views.ts';
import { projectOf, type ShownMergeRequest, sectionView } from './views.ts';

type Source = Pick<DiffSource, 'page' | 'fileAt' | 'textOf' | 'owner' | 'marks'>;

const asked = ({ query }: Pick<PageCall, 'query'>, name: string): string | undefined => {
  const value = query[name];
  return typeof value === 'string' && value !== '' ? value : undefined;
};

/** The addresses of files before and after the changes. */
const filesAt =
  (project: string, before: string | null | undefined, after: string | undefined): Source['fileAt'] =>
  (side, path) => {
    const sha = side === 'old' ? before : after;
    return sha ? blobPage(project, sha, path) : undefined;
  };

/** The files after the changes, which the target project keeps. */
const readAt = (call: PageCall, { project_id }: ShownMergeRequest, head: string | undefined) => ({
  owner: project_id,
  ...(head === undefined ? {} : { textOf: textsAt(call, head) }),
});

/** The requested changes: of a version, since another commit, or of the last version. */
async function sourceOf(call: PageCall, merge_request: Promise<ShownMergeRequest>): Promise<Source> {
  const { one, list } = call;
  const [version_id, start_sha] = [asked(call, 'diff_id'), asked(call, 'start_sha')];
  if (version_id === undefined) {
    const shown = await merge_request;
    return {
      page: (paging) => list(Diff, 'listMergeRequestDiffs', paging),
      fileAt: filesAt(projectOf(shown), shown.diff_refs?.base_sha, shown.diff_refs?.head_sha),
      ...readAt(call, shown, shown.diff_refs?.head_sha),
    };
  }
  const version = await one(MergeRequestVersionDetail, 'getMergeRequestVersion', { version_id });
  const { head_commit_sha: to, base_commit_sha } = version;
  const shown = await merge_request;
  const project = projectOf(shown);
  const reading = readAt(call, shown, to);
  if (start_sha === undefined)
    return { page: pagesOfDiffs(version.diffs), fileAt: filesAt(project, base_commit_sha, to), ...reading };
  const { diffs } = await one(Comparison, 'compareCommits', { from: start_sha, to, straight: true });
  return { page: pagesOfDiffs(diffs), fileAt: filesAt(project, start_sha, to), ...reading };
}

/** The maximum number of threads read for the changes. */
const maximumThreads = 100;

async function load(call: PageCall) {
  const { one, list } = call;
  const shown = one(MergeRequest, 'getMergeRequest');
  const [merge_request, source, versions, discussions, pending] = await Promise.all([
    shown,
    sourceOf(call, shown),
    list(MergeRequestVersion, 'listMergeRequestVersions', { per_page: 100 }),
    list(Discussion, 'showMergeRequestDiscussions', { per_page: maximumThreads }),
    draftsOf(call),
  ]);
  const threads = discussions.items.filter(({ notes }) => notes[0]?.position);
  const diff_id = asked(call, 'diff_id');
  const is_newest = diff_id === undefined || diff_id === String(versions.items[0]?.id);
  const place = { kind: 'project' as const, id: merge_request.project_id, full_path: projectOf(merge_request) };
  const [{ texts }, drafts, looked, marks] = await Promise.all([
    textsOf(call, place, threads),
    withTexts(call, place, pending),
    lookedAt(call, merge_request, versions.items, is_newest),
    errorMarker(call, { id: merge_request.project_id, full_path: projectOf(merge_request) }),
  ]);
  return {
    merge_request,
    source: marks ? { ...source, marks } : source,
    versions: versions.items,
    said: { threads, texts, drafts },
    looked,
    has_more: discussions.has_more,
  };
}
type Loaded = Awaited<ReturnType<typeof load>>;

const versionName = ({ head_commit_sha }: Static<typeof MergeRequestVersion>, number: number, isLast = false): string =>
  `${isLast ? 'Last version' : `Version ${number}`}, ${head_commit_sha.slice(0, 8)}`;

/** The form for choosing a version, and the version to compare it with. */
function versionsView({ versions }: Loaded, seen: Seen): Html | undefined {
  if (versions.length < 2) return undefined;
  const count = versions.length;
  return html`<form method="get" action="${seen.path}" class="filters">
<div class="field"><label for="diff_id">Version</label><select id="diff_id" name="diff_id">${versions.map(
    (version, index) =>
      html`<option value="${version.id}" ?selected="${asked(seen, 'diff_id') === String(version.id)}">${versionName(version, count - index, index === 0)}</option>`,
  )}</select></div>
<div class="field"><label for="start_sha">Compared with</label><select id="start_sha" name="start_sha"><option value="">The target branch</option>${versions
    .slice(1)
    .map(
      (version, index) =>
        html`<option value="${version.head_commit_sha}" ?selected="${asked(seen, 'start_sha') === version.head_commit_sha}">${versionName(version, count - 1 - index)}</option>`,
    )}</select></div>
<button>Show</button></form>`;
}

async function* pieces(shown: Loaded, seen: Seen): AsyncGenerator<Html> {
  const { merge_request, source, said, has_more, versions, looked } = shown;
  const open = openThreads(said.threads);
  yield html`<div id="pending">${reviewBox(seen, said.drafts, undefined)}${openThreadsView(open)}</div>${sinceThen(seen, versions, looked?.before)}${versionsView(shown, seen)}${
    has_more &&
    html`<p class="soft">Only the first ${maximumThreads} threads are shown here; the overview has all of them.</p>`
  }`;
  // Comments are possible only on the last version.
  const isLast = asked(seen, 'diff_id') === undefined;
  const mayComment = seen.may('thread') && isLast;
  const remarks = [
    ...withNext(threadRemarks(seen, said.threads, said.texts), said.threads, open),
    ...said.drafts.map((draft) => ({ position: draft.position, view: () => draftView(seen, draft) })),
  ];
  const commenting = {
    refs: merge_request.diff_refs ?? undefined,
    form: 'thread',
    also: draftButton(seen),
    may_suggest: true,
  };
  const marks = isLast && looked ? { viewed: viewedMarks(seen, looked) } : {};
  const replaced = ['pending', ...('viewed' in marks && seen.query.file === undefined ? ['viewed'] : [])];
  const parts = { ...source, ...marks, said: saidAbout(seen, remarks, commenting), parts: replaced };
  yield* diffPieces(mayComment ? { ...parts, commentAt: lineAddresses(seen) } : parts, diffsAsked(seen));
}

/** The address of the thread that was started or resolved. */
const toThread = (outcome: never, call: PageCall): string => {
  const { body, notes } = outcome as { body?: Partial<Thread> } & Partial<Thread>;
  return afterLineComment(call, (body?.notes ?? notes)?.[0]?.id);
};

const { reply, edit_note, remove_note } = conversationForms('MergeRequest');

export const mergeRequestDiffsPage = page('/:id/-/merge_requests/:merge_request_iid/diffs', {
  is_costly: true,
  load,
  forms: {
    thread: { runs: 'createMergeRequestDiscussion', next: toThread },
    reply,
    edit_note,
    remove_note,
    resolve: { runs: 'resolveMergeRequestDiscussion', next: toThread },
    ...reviewForms,
    view: { act: markFile },
  },
  view: (shown, seen) => sectionView(shown.merge_request, '/diffs', pieces(shown, seen)),
});

export const mergeRequestDiffPage = filePage(
  '/:id/-/merge_requests/:merge_request_iid.diff',
  ({ bytes }) => bytes('getMergeRequestRawDiffs'),
  { is_costly: true },
);
