/** Views shared by all pages of one merge request. */
import type { Static } from 'typebox';
import { mergeRequestKind } from '../../../access/index.ts';
import { type Html, html, label, mergeRequestState, person, time, type View } from '../../../pages/index.ts';
import type { MergeRequest } from '../../work/merge_requests/index.ts';
import { pathIn } from '../issuables/present.ts';

export type ShownMergeRequest = Static<typeof MergeRequest>;

export const projectOf = ({ references }: ShownMergeRequest): string => pathIn(references.full);
export const toMergeRequest = (merge_request: ShownMergeRequest): string =>
  mergeRequestKind.page(projectOf(merge_request), merge_request.iid);

const sections = [
  ['', 'Overview'],
  ['/commits', 'Commits'],
  ['/pipelines', 'Pipelines'],
  ['/diffs', 'Changes'],
] as const;

/** The pages of a merge request by the last parts of their addresses, with what they are called. Those that are no tabs are linked where they are needed. */
const sectionTitles = {
  ...Object.fromEntries(sections),
  '/related': 'Related',
  '/approval_rules': 'Approval rules',
} as Readonly<Record<SectionName, string>>;
export type SectionName = (typeof sections)[number][0] | '/related' | '/approval_rules';

/** A section of a merge request. */
export function sectionView(merge_request: ShownMergeRequest, current: SectionName, main: View['main']): View {
  const { title, iid } = merge_request;
  const id = projectOf(merge_request);
  const own = toMergeRequest(merge_request);
  const before = html`<p>${mergeRequestState(merge_request.state)} ${merge_request.draft && label('Draft')} ${person(merge_request.author)} wants to merge <code>${merge_request.source_branch}</code> into <code>${merge_request.target_branch}</code>, ${time(merge_request.created_at)}</p>
<nav class="tabs" aria-label="Merge request"><ul>${sections.map(
    ([rest, name]) =>
      html`<li><a href="${own + rest}" ?aria-current="${rest === current && 'page'}">${name}${rest === '/diffs' && merge_request.changes_count && html` <span class="soft">${merge_request.changes_count}</span>`}</a></li>`,
  )}</ul></nav>
`;
  return {
    title: [...(current === '' ? [] : [sectionTitles[current]]), title, `!${iid}`, id],
    heading: html`${title} <span class="soft">!${iid}</span>`,
    place: { id, kind: 'project', tab: 'merge_requests' },
    is_public: true,
    main: 'text' in main ? html`${before}${main}` : joined(before, main),
  };
}

async function* joined(before: Html, rest: AsyncIterable<Html>): AsyncGenerator<Html> {
  yield before;
  yield* rest;
}
