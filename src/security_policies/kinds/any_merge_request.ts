/** Rules on each merge request, or on those with commits that are not signed. */
import { attribute, oneOf } from '../../ci_configuration/shapes/shape.ts';
import { ruleKind } from './kind.ts';

export const anyMergeRequest = ruleKind({
  type: 'any_merge_request',
  report_type: 'any_merge_request',
  members: { commits: attribute(oneOf(['any', 'unsigned'])) },
  required: [],
  needs: ({ commits }) => (commits === 'unsigned' ? ['unsigned_commits'] : []),
  reasons({ commits }, { unsigned_commits: count }) {
    if (commits !== 'unsigned') return ['Each merge request into the branch needs it.'];
    if (count === 0) return [];
    return [count === 1 ? 'One commit is not signed.' : `${count.toLocaleString('en')} commits are not signed.`];
  },
});
