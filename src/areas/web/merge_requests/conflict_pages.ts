/** The conflicts of a merge request: both texts of each file, and a form that resolves them (docs/reference/work_pages.md#conflicts). */
import type { Static } from 'typebox';
import { mergeRequestKind } from '../../../access/index.ts';
import type { Values } from '../../../http/index.ts';
import {
  type Content,
  type Field,
  form,
  type Html,
  hidden,
  html,
  type PageCall,
  page,
  refusalIn,
  type Seen,
  textIn,
  type View,
} from '../../../pages/index.ts';
import { MergeRequest, MergeRequestConflicts } from '../../work/merge_requests/index.ts';
import { projectOf, type ShownMergeRequest, toMergeRequest } from './views.ts';

type Conflicts = Static<typeof MergeRequestConflicts>;
type ConflictingFile = Conflicts['files'][number];

interface Shown {
  merge_request: ShownMergeRequest;
  /** Undefined if the branches do not conflict. */
  conflicts: Conflicts | undefined;
}

/** What a file becomes, besides what is written in the field. */
const sides = { source: 'source_text', target: 'target_text' } as const;

const isResolvable = ({ files, has_more }: Conflicts): boolean =>
  files.length > 0 && !has_more && files.every(({ text }) => text !== null);

const textOf = (value: unknown): string =>
  (value instanceof Uint8Array ? new TextDecoder().decode(value) : typeof value === 'string' ? value : '').replaceAll(
    '\r\n',
    '\n',
  );

/** The text of a file as the form says: that of one branch, or what was written. */
function resolvedText(file: ConflictingFile, fields: Values, index: number): string {
  const side = fields[`take_${index}`];
  const taken = side === 'source' || side === 'target' ? file[sides[side]] : null;
  return taken ?? textOf(fields[`content_${index}`]);
}

async function resolve(call: PageCall, fields: Values): Promise<string> {
  const merge_request = await call.one(MergeRequest, 'getMergeRequest');
  const { files, ...heads } = await call.one(MergeRequestConflicts, 'getMergeRequestConflicts');
  await call.described('resolveMergeRequestConflicts', {
    // What moved since the form was shown is refused.
    source_head: textIn(fields, 'source_head') ?? heads.source_head,
    target_head: textIn(fields, 'target_head') ?? heads.target_head,
    commit_message: textIn(fields, 'commit_message') ?? messageFor(merge_request),
    files: files.map((file, index) => ({ path: file.path, content: resolvedText(file, fields, index) })),
  });
  return toMergeRequest(merge_request);
}

const messageFor = ({ source_branch, target_branch }: ShownMergeRequest): string =>
  `Merge branch '${target_branch}' into '${source_branch}'`;

function fieldsOf({ path, text }: ConflictingFile, index: number, merge_request: ShownMergeRequest): Field[] {
  const { source_branch, target_branch } = merge_request;
  return [
    {
      name: `take_${index}`,
      label: `${path} becomes`,
      kind: 'select',
      options: [
        { value: 'text', label: 'What is in the field below' },
        { value: 'source', label: `What is in ${source_branch}` },
        { value: 'target', label: `What is in ${target_branch}` },
      ],
    },
    {
      name: `content_${index}`,
      label: `${path}, with both texts`,
      kind: 'area',
      rows: 16,
      value: text ?? '',
      code_of: path,
      help: `Between <<<<<<< and ======= is the text of ${source_branch}, up to >>>>>>> that of ${target_branch}. Keep what should stay, and remove these lines.`,
    },
  ];
}

/** How to resolve the conflicts with git. */
const byHand = ({ source_branch, target_branch }: ShownMergeRequest): Html => html`<pre>git fetch origin
git switch ${source_branch}
git merge origin/${target_branch}
git push origin ${source_branch}</pre>`;

function conflictsView(conflicts: Conflicts, merge_request: ShownMergeRequest, seen: Seen): Content {
  const { files, has_more, source_head, target_head } = conflicts;
  const list = html`<ul>${files.map(
    ({ path, text }) =>
      html`<li>${path}${text === null && html` <span class="soft">cannot be resolved here</span>`}</li>`,
  )}${has_more && html`<li>and others</li>`}</ul>`;
  if (!isResolvable(conflicts))
    return html`${files.length === 0 ? html`<p>The branches have no commit in common.</p>` : list}
<p>Merge the branches with git, resolve the conflicts and push:</p>
${byHand(merge_request)}`;
  const refused = refusalIn(seen, 'resolve');
  // After a branch has moved, the next attempt is about what is shown now.
  const current = refused && { ...refused, values: { ...refused.values, source_head, target_head } };
  return (
    form(current ? { ...seen, refused: current } : seen, 'resolve', {
      fields: [
        ...files.flatMap((file, index) => fieldsOf(file, index, merge_request)),
        { name: 'commit_message', label: 'Commit message', kind: 'area', rows: 3, value: messageFor(merge_request) },
        hidden('source_head', source_head),
        hidden('target_head', target_head),
      ],
      button: 'Commit the merge',
    }) ?? html`${list}${byHand(merge_request)}`
  );
}

function view({ merge_request, conflicts }: Shown, seen: Seen): View {
  const { title, iid, source_branch, target_branch } = merge_request;
  const id = projectOf(merge_request);
  const own = mergeRequestKind.page(id, iid);
  return {
    title: ['Conflicts', title, `!${iid}`, id],
    place: { id, kind: 'project', tab: 'merge_requests' },
    main: html`<p><a href="${own}">!${iid} ${title}</a></p>
${
  conflicts
    ? html`<p>${source_branch} and ${target_branch} change the same lines. To resolve this, ${target_branch} is merged into ${source_branch}.</p>
${conflictsView(conflicts, merge_request, seen)}`
    : html`<p>There are no conflicts between ${source_branch} and ${target_branch}.</p>`
}`,
  };
}

export const mergeRequestConflictsPage = page('/:id/-/merge_requests/:merge_request_iid/conflicts', {
  is_costly: true,
  async load({ one, perhaps }): Promise<Shown> {
    const merge_request = await one(MergeRequest, 'getMergeRequest');
    const conflicts = await perhaps(one(MergeRequestConflicts, 'getMergeRequestConflicts'));
    return { merge_request, conflicts };
  },
  forms: { resolve: { act: resolve } },
  view,
});
