/** Pages of a merge request that are made of declared parts, such as its approval rules. */
import { type Content, html, type Page, type PageForm, page } from '../../../pages/index.ts';
import { MergeRequest } from '../../work/merge_requests/index.ts';
import type { AnyPart } from '../declared/definition.ts';
import { type SectionName, type ShownMergeRequest, sectionView } from './views.ts';

interface Loaded {
  merge_request: ShownMergeRequest;
  data: readonly unknown[];
}

/**
 * A page below a merge request.
 * @param section the last part of its address
 * @param parts what the reader may not read is left out
 */
export const partPage = (
  section: SectionName,
  { intro, parts }: { intro?: Content; parts: readonly AnyPart[] },
): Page<Loaded> =>
  page(`/:id/-/merge_requests/:merge_request_iid${section}`, {
    signed_in: true,
    async load(call) {
      const [merge_request, ...data] = await Promise.all([
        call.one(MergeRequest, 'getMergeRequest'),
        ...parts.map((part) => call.perhaps(part.load(call))),
      ]);
      return { merge_request, data };
    },
    forms: Object.assign({}, ...parts.map(({ forms = {} }) => forms)) as Readonly<Record<string, PageForm>>,
    view: ({ merge_request, data }, seen) =>
      sectionView(
        merge_request,
        section,
        html`${intro && html`<p class="soft">${intro}</p>`}${parts.map(
          (part, index) => data[index] !== undefined && part.view(data[index], seen),
        )}`,
      ),
  });
