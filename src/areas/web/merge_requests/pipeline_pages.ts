/** The pipelines of the heads that a merge request has had. */
import { form, html, page, pager, pagingOf, rows, state, time } from '../../../pages/index.ts';
import { Pipeline } from '../../code/pipelines/index.ts';
import { MergeRequest } from '../../work/merge_requests/index.ts';
import { pathOf } from '../issuables/present.ts';
import { sectionView } from './views.ts';

export const mergeRequestPipelinesPage = page('/:id/-/merge_requests/:merge_request_iid/pipelines', {
  load: async ({ one, list, query }) => {
    const [merge_request, pipelines] = await Promise.all([
      one(MergeRequest, 'getMergeRequest'),
      list(Pipeline, 'listMergeRequestPipelines', pagingOf({ query })),
    ]);
    return { merge_request, pipelines };
  },
  forms: { run: { runs: 'createMergeRequestPipeline' } },
  view: ({ merge_request, pipelines }, seen) =>
    sectionView(
      merge_request,
      '/pipelines',
      html`<h2>Pipelines</h2>
${form(seen, 'run', { button: 'Run pipeline' })}
${rows(
  pipelines.items.map(
    ({ status, web_url, iid, ref, sha, created_at }) =>
      html`${state(status)} <a href="${pathOf(web_url)}">Pipeline #${iid}</a> <span class="soft">of ${ref}, <code>${sha.slice(0, 8)}</code>, ${time(created_at)}</span>`,
  ),
  'No pipeline has reported about its commits.',
)}
${pager(pipelines, seen)}`,
    ),
});
