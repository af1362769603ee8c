/** The branches of a repository. */
import type { Static } from 'typebox';
import { page, pagingOf } from '../../../pages/index.ts';
import { Branch, treePage } from '../../code/repository/index.ts';
import { type Branches, branchesView } from './branch_views.ts';

export const branchPages = page('/:id/-/branches', {
  async load(call): Promise<Branches> {
    const { search } = call.query;
    const branches = await call.list(Branch, 'listBranches', {
      sort: 'updated_desc',
      ...(typeof search === 'string' && search !== '' ? { search } : {}),
      per_page: 40,
      ...pagingOf(call),
    });
    return { id: call.params.id!, branches };
  },
  forms: {
    create: {
      runs: 'createBranch',
      next: ({ name }: Static<typeof Branch>, { params }) => treePage(params.id!, name),
    },
    remove: { runs: 'deleteBranch' },
    remove_merged: { runs: 'deleteMergedBranches' },
  },
  view: branchesView,
});
