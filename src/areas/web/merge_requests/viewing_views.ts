/** Files that a reviewer has viewed, versions that they have seen, and threads that are left to resolve (docs/reference/work_pages.md#reviews). */
import { createHash } from 'node:crypto';
import type { Static } from 'typebox';
import { invalid, type Values } from '../../../http/index.ts';
import {
  type Content,
  form,
  type Html,
  hidden,
  html,
  icon,
  type PageCall,
  type Seen,
  textIn,
  withQuery,
} from '../../../pages/index.ts';
import { counted } from '../../../texts/index.ts';
import {
  MergeRequest,
  type MergeRequestVersion,
  markViewed,
  noteVisit,
  type Viewing,
  viewingOf,
} from '../../work/merge_requests/index.ts';
import type { DiffSource, FileDiff } from '../diffs/definition.ts';
import type { Thread } from '../issuables/definition.ts';
import type { Remark } from '../issuables/line_views.ts';
import type { ShownMergeRequest } from './views.ts';

type Version = Static<typeof MergeRequestVersion>;

/** What identifies a file with its changes, whatever lines are added above them. */
function digestOf({ old_path, new_path, a_mode, b_mode, diff }: FileDiff): string {
  const changes = diff.replaceAll(/^@@ .*$/gm, '@@');
  return createHash('sha256')
    .update(JSON.stringify([old_path, new_path, a_mode, b_mode, changes]))
    .digest('hex');
}

/** What the reader has looked at before. */
export interface Looked {
  viewed: Viewing['viewed'];
  /** The version that they had seen before the newest one, if there was another. */
  before: Version | undefined;
}

/**
 * What the reader has looked at; that they look at the newest version is noted.
 * @param versions newest first
 * @param is_newest whether the page shows the newest one
 */
export async function lookedAt(
  { caller, services: { db, geo } }: PageCall,
  { id }: ShownMergeRequest,
  versions: readonly Version[],
  is_newest: boolean,
): Promise<Looked | undefined> {
  if (!caller) return undefined;
  const viewer = { merge_request_id: id, user_id: caller.id };
  const { viewed, version_id, before_id } = await viewingOf(db, viewer);
  const [newest] = versions;
  const isSeen = newest === undefined || version_id === newest.id;
  // A secondary site only reads.
  if (!isSeen && is_newest && geo.role !== 'secondary') await noteVisit(db, viewer, newest.id);
  const last_id = isSeen ? before_id : version_id;
  return { viewed, before: versions.find((version) => version.id === last_id) };
}

/** The link to what has changed since the reader looked. @param versions newest first */
export function sinceThen(
  { path }: Pick<Seen, 'path'>,
  versions: readonly Version[],
  before: Version | undefined,
): Content {
  const [newest] = versions;
  if (!before || !newest || before.id === newest.id) return undefined;
  const query = new URLSearchParams({ diff_id: String(newest.id), start_sha: before.head_commit_sha });
  const pushes = counted(versions.indexOf(before), 'new version');
  return html`<p class="notice">${pushes} since you last looked: <a href="${`${path}?${query}`}">see what has changed since</a></p>`;
}

/** The form that marks a file as viewed, or no longer. Files that are too large to be shown are not viewed. */
export const viewedMarks =
  (seen: Seen, { viewed }: Looked): NonNullable<DiffSource['viewed']> =>
  (file, number) => {
    if (file.too_large || file.collapsed || !seen.may('view')) return undefined;
    const mark = digestOf(file);
    const is_viewed = viewed.has(mark);
    const name = html`<span class="visually-hidden"> ${file.new_path}</span>`;
    return {
      is_viewed,
      form: () =>
        form(seen, 'view', {
          fields: [hidden('mark', mark), hidden('viewed', String(!is_viewed))],
          button: is_viewed ? html`${icon('ok')}Viewed${name}` : html`Mark as viewed${name}`,
          look: is_viewed ? 'own' : 'plain',
          key: number,
          action: withQuery(seen, { at: undefined, suggest: undefined }),
        }),
    };
  };

/** Marks a file. @returns the address of the file on the page */
export async function markFile(call: PageCall, fields: Values): Promise<string> {
  const { id } = await call.one(MergeRequest, 'getMergeRequest');
  const digest = textIn(fields, 'mark') ?? '';
  if (!/^[0-9a-f]{64}$/.test(digest)) throw invalid({ mark: ['is invalid'] });
  const is_viewed = textIn(fields, 'viewed') === 'true';
  await markViewed(call.services.db, { merge_request_id: id, user_id: call.caller!.id }, { digest, is_viewed });
  const number = Number(textIn(fields, '_key'));
  const all = withQuery(call, { file: undefined, context: undefined });
  return Number.isSafeInteger(number) ? `${all}#file-${number}` : all;
}

const isOpen = ({ notes }: Thread): boolean =>
  notes.some(({ resolvable, resolved }) => resolvable && resolved !== true);

/** The threads that are left to resolve, in the order of the files and lines. */
export function openThreads(threads: readonly Thread[]): readonly Thread[] {
  const placeOf = ({ notes: [first] }: Thread) => {
    const { new_path, old_path, new_line, old_line } = first?.position ?? {};
    return { path: new_path ?? old_path ?? '', line: new_line ?? old_line ?? 0 };
  };
  return threads.filter(isOpen).toSorted((one, other) => {
    const [a, b] = [placeOf(one), placeOf(other)];
    return a.path === b.path ? a.line - b.line : a.path < b.path ? -1 : 1;
  });
}

const anchorOf = ({ notes }: Thread): string => `#note_${notes[0]!.id}`;

/** How many threads are left, and the way to the first one. */
export const openThreadsView = (open: readonly Thread[]): Content =>
  open.length > 0 &&
  html`<p>${counted(open.length, 'unresolved thread')}. <a href="${anchorOf(open[0]!)}" data-key="n">Go to ${open.length === 1 ? 'it' : 'the first one'}</a></p>`;

/** Threads at their places, each that is left with the way to the next one. */
export const withNext = (
  remarks: readonly Remark[],
  threads: readonly Thread[],
  open: readonly Thread[],
): readonly Remark[] =>
  remarks.map((remark, index) => {
    const at = open.indexOf(threads[index]!);
    const next = at < 0 ? undefined : open[at + 1];
    if (!next) return remark;
    const view = (): Html => html`${remark.view()}<p><a href="${anchorOf(next)}">Next unresolved thread</a></p>`;
    return { ...remark, view };
  });
