/** The commits of a merge request. */
import type { Static } from 'typebox';
import {
  type Content,
  form,
  hidden,
  html,
  page,
  pager,
  pagingOf,
  rows,
  type Seen,
  time,
} from '../../../pages/index.ts';
import { Commit } from '../../code/repository/index.ts';
import { MergeRequest } from '../../work/merge_requests/index.ts';
import { pathOf } from '../issuables/present.ts';
import { sectionView } from './views.ts';

/** Commits of the target project, which say what the merge request builds upon. */
function contextView(context: readonly Static<typeof Commit>[], seen: Seen): Content {
  const mayChange = seen.may('add_context');
  if (context.length === 0 && !mayChange) return undefined;
  return html`<h2>What it builds upon</h2>
${rows(
  context.map(
    ({ id, title, short_id, author_name, committed_date, web_url }) =>
      html`<a class="title" href="${pathOf(web_url)}" rel="nofollow">${title}</a>
<div class="soft"><code>${short_id}</code> ${author_name}, ${time(committed_date)}</div>
${form(seen, 'remove_context', { fields: [hidden('commits', id)], button: html`Remove <span class="visually-hidden">${short_id}</span>`, look: 'plain', key: short_id })}`,
  ),
  'No commits of the target are named.',
)}
${
  mayChange &&
  html`<details class="new"><summary class="button">Name commits</summary>${form(seen, 'add_context', {
    fields: [
      { name: 'commits', label: 'Commits of the target', is_required: true, help: 'Their IDs, separated by commas.' },
    ],
    button: 'Add the commits',
  })}</details>`
}`;
}

export const mergeRequestCommitsPage = page('/:id/-/merge_requests/:merge_request_iid/commits', {
  load: async ({ one, list, query }) => {
    const [merge_request, commits, context] = await Promise.all([
      one(MergeRequest, 'getMergeRequest'),
      list(Commit, 'listMergeRequestCommits', { ...pagingOf({ query }), per_page: 50 }),
      list(Commit, 'listContextCommits', { per_page: 100 }),
    ]);
    return { merge_request, commits, context: context.items };
  },
  forms: {
    add_context: { runs: 'createContextCommits' },
    remove_context: { runs: 'deleteContextCommits' },
  },
  view: ({ merge_request, commits, context }, seen) =>
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
${pager(commits, seen)}
${contextView(context, seen)}`,
    ),
});
