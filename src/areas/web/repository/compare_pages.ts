/** Comparing two refs. */
import { invalid, notFound, type Values } from '../../../http/index.ts';
import { type PageCall, page, textIn } from '../../../pages/index.ts';
import { blobPage, CommitDetail, Comparison, comparePage } from '../../code/repository/index.ts';
import { ProjectWithAccessForm } from '../../spaces/projects/index.ts';
import type { DiffSource } from '../diffs/definition.ts';
import { textsAt } from '../diffs/file_queries.ts';
import { pagesOfDiffs } from '../diffs/views.ts';
import { compareView, type NewComparison, newComparisonView, type ShownComparison } from './compare_views.ts';

/** Two refs, separated by two dots, or by three, which exclude the commits of the first one only. */
const range = /^(.+?)(\.\.\.?)(.+)$/;

export const comparePages = page('/:id/-/compare/*refs', {
  is_costly: true,
  async load(call): Promise<ShownComparison> {
    const { id = '', refs = '' } = call.params;
    const [, from, dots, to] = range.exec(refs) ?? [];
    if (from === undefined || to === undefined) throw notFound('Page');
    const comparison = await call.one(Comparison, 'compareCommits', { from, to, straight: dots === '..' });
    const diffs: DiffSource = {
      page: pagesOfDiffs(comparison.diffs),
      fileAt: (side, path) => blobPage(id, side === 'old' ? from : to, path),
      textOf: textsAt(call, to),
      owner: call.caller?.id ?? 0,
    };
    return { id, from, to, comparison, diffs };
  },
  view: compareView,
});

/** The ref entered in a field. */
async function refIn({ one, perhaps }: PageCall, fields: Values, name: 'from' | 'to'): Promise<string> {
  const sha = textIn(fields, name);
  if (sha === undefined) throw invalid({ [name]: ['is empty'] });
  if (!(await perhaps(one(CommitDetail, 'getCommit', { sha, stats: false }))))
    throw invalid({ [name]: ['does not exist'] });
  return sha;
}

/** The address contains the two refs, so that a comparison can be linked to. */
const chosen = async (call: PageCall, fields: Values): Promise<string> =>
  comparePage(call.params.id!, `${await refIn(call, fields, 'from')}...${await refIn(call, fields, 'to')}`);

export const newComparisonPages = page('/:id/-/compare', {
  async load(call): Promise<NewComparison> {
    const { id = '' } = call.params;
    const { default_branch } = await call.one(ProjectWithAccessForm, 'getProject');
    if (default_branch === undefined) throw notFound('Page');
    return { id, from: textIn(call.query, 'from') ?? default_branch, to: textIn(call.query, 'to') };
  },
  forms: { compare: { act: chosen, anonymous: true } },
  view: newComparisonView,
});
