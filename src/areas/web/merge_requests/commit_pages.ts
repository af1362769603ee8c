/** The commits of a merge request. */
import { html, page, pager, pagingOf, rows, time } from '../../../pages/index.ts';
import { Commit } from '../../code/repository/index.ts';
import { MergeRequest } from '../../work/merge_requests/index.ts';
import { pathOf } from '../issuables/present.ts';
import { sectionView } from './views.ts';

export const mergeRequestCommitsPage = page('/:id/-/merge_requests/:merge_request_iid/commits', {
  load: async ({ one, list, query }) => {
    const [merge_request, commits] = await Promise.all([
      one(MergeRequest, 'getMergeRequest'),
      list(Commit, 'listMergeRequestCommits', { ...pagingOf({ query }), per_page: 50 }),
    ]);
    return { merge_request, commits };
  },
  view: ({ merge_request, commits }, seen) =>
    sectionView(
      merge_request,
      '/commits',
      html`<h2>Commits</h2>
${rows(
  commits.items.map(
    ({ title, short_id, author_name, committed_date, web_url }) =>
      html`<a class="title" href="${pathOf(web_url)}" rel="nofollow">${title}</a>
<div class="soft"><code>${short_id}</code> ${author_name}, ${time(committed_date)}</div>`,
  ),
  'The source branch has no commits that the target branch lacks.',
)}
${pager(commits, seen)}`,
    ),
});
