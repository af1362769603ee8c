/** The changes of a merge request, of its last version or an earlier one, with the threads at their files. */
import type { Static } from 'typebox';
import { filePage, html, type PageCall, page, pager, pagingOf, type Seen, withQuery } from '../../../pages/index.ts';
import { Comparison, Diff } from '../../code/repository/index.ts';
import { Discussion } from '../../conversation/discussions/index.ts';
import { MergeRequest, MergeRequestVersion, MergeRequestVersionDetail } from '../../work/merge_requests/index.ts';
import { conversationForms, type NoteTexts, noteTexts, type Thread, threadView } from '../issuables/index.ts';
import { commentForm, fileView } from './diff_views.ts';
import { projectOf, sectionView } from './views.ts';

type FileDiff = Static<typeof Diff>;
const files_per_page = 20;

interface Changes {
  items: readonly FileDiff[];
  page: number;
  per_page: number;
  has_more: boolean;
  total?: number;
}

/** Those of a page, where all of them have been read at once. */
function pageOf(diffs: readonly FileDiff[], wanted: unknown): Changes {
  const page = Math.max(1, Math.trunc(Number(wanted)) || 1);
  const items = diffs.slice((page - 1) * files_per_page, page * files_per_page);
  return { items, page, per_page: files_per_page, total: diffs.length, has_more: page * files_per_page < diffs.length };
}

/** The changes that are asked for: those of a version, those since another commit, or those of the last version. */
async function changesOf({ one, list, query }: PageCall): Promise<Changes> {
  if (typeof query.diff_id !== 'string')
    return list(Diff, 'listMergeRequestDiffs', { ...pagingOf({ query }), per_page: files_per_page });
  const version = await one(MergeRequestVersionDetail, 'getMergeRequestVersion', { version_id: query.diff_id });
  if (typeof query.start_sha !== 'string' || query.start_sha === '') return pageOf(version.diffs, query.page);
  const range = { from: query.start_sha, to: version.head_commit_sha, straight: true };
  return pageOf((await one(Comparison, 'compareCommits', range)).diffs, query.page);
}

const pathOfThread = ({ notes }: Thread) => notes[0]?.position?.new_path ?? notes[0]?.position?.old_path;

async function load(call: PageCall) {
  const { one, list, perhaps } = call;
  const [merge_request, changes, versions, discussions] = await Promise.all([
    one(MergeRequest, 'getMergeRequest'),
    changesOf(call),
    list(MergeRequestVersion, 'listMergeRequestVersions', { per_page: 100 }),
    perhaps(list(Discussion, 'listMergeRequestDiscussions', { per_page: 100 })),
  ]);
  const paths = new Set(changes.items.map(({ new_path }) => new_path));
  const threads = (discussions?.items ?? []).filter((thread) => paths.has(pathOfThread(thread) ?? ''));
  const place = { id: merge_request.project_id, full_path: projectOf(merge_request) };
  const texts = await noteTexts(call, place, threads);
  return { merge_request, changes, versions: versions.items, threads, texts, has_more_threads: discussions?.has_more };
}
type Loaded = Awaited<ReturnType<typeof load>>;

const short = (sha: string) => sha.slice(0, 8);

/** The choice of a version, and of the one that it is compared with. */
function versionsView({ versions }: Loaded, seen: Seen) {
  if (versions.length < 2) return undefined;
  const chosen = (value: string | number, name: string) => String(seen.query[name] ?? '') === String(value);
  return html`<form method="get" action="${seen.path}" class="filters">
<div class="field"><label for="diff_id">Version</label><select id="diff_id" name="diff_id">${versions.map(
    ({ id, head_commit_sha }, index) =>
      html`<option value="${id}" ?selected="${chosen(id, 'diff_id')}">${index === 0 ? 'Last version' : `Version ${versions.length - index}`}, ${short(head_commit_sha)}</option>`,
  )}</select></div>
<div class="field"><label for="start_sha">Compared with</label><select id="start_sha" name="start_sha"><option value="">The target branch</option>${versions
    .slice(1)
    .map(
      ({ head_commit_sha }, index) =>
        html`<option value="${head_commit_sha}" ?selected="${chosen(head_commit_sha, 'start_sha')}">Version ${versions.length - 1 - index}, ${short(head_commit_sha)}</option>`,
    )}</select></div>
<button>Show</button></form>`;
}

const threadsAt = (seen: Seen, { threads }: Loaded, texts: NoteTexts, path: string) =>
  threads.filter((thread) => pathOfThread(thread) === path).map((thread) => threadView(seen, thread, texts));

const { reply, edit_note, remove_note } = conversationForms('MergeRequest');

/** The changes with the thread that was begun or resolved. */
const backToFile = (outcome: never, call: PageCall): string => {
  const { body, notes } = outcome as { body?: Partial<Thread> } & Partial<Thread>;
  const first = (body?.notes ?? notes)?.[0];
  const address = withQuery(call, { file: undefined, old_line: undefined, new_line: undefined });
  return first ? `${address}#note_${first.id}` : address;
};

export const mergeRequestDiffPage = filePage('/:id/-/merge_requests/:merge_request_iid.diff', ({ bytes }) =>
  bytes('getMergeRequestRawDiffs'),
);

export const mergeRequestDiffsPage = page('/:id/-/merge_requests/:merge_request_iid/diffs', {
  load,
  forms: {
    thread: { runs: 'createMergeRequestDiscussion', next: backToFile },
    reply,
    edit_note,
    remove_note,
    resolve: { runs: 'resolveMergeRequestDiscussion', next: backToFile },
  },
  view: (shown, seen) => {
    const { merge_request, changes, texts, has_more_threads } = shown;
    return sectionView(
      merge_request,
      '/diffs',
      html`<h2>Changes</h2>
${versionsView(shown, seen)}
${changes.items.length === 0 && html`<p class="soft">Nothing is changed.</p>`}
${changes.items.map(
  (file) =>
    html`${fileView(seen, file)}${commentForm(seen, merge_request, file)}${threadsAt(seen, shown, texts, file.new_path)}`,
)}
${pager(changes as never, seen)}
${has_more_threads && html`<p class="soft">Only the first 100 threads are shown here; the overview has all of them.</p>`}`,
    );
  },
});
