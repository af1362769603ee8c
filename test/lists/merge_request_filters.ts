/** The filters of lists of merge requests. */
import type { Random } from '../support/random.ts';
import { type Filter, on, reacted, searchesIn, stateFilters } from './filters.ts';
import { milestoneFilters, peopleFilters, scopeFilters } from './people_filters.ts';
import { isVisible } from './places.ts';
import { milestoneTitles } from './plans.ts';
import type { Row } from './rows.ts';
import type { ListWorld } from './world.ts';

function approvalFilters({ users: [one, other] }: ListWorld): Filter[] {
  const [first, second] = [one!.id, other!.id];
  return [
    on('approved', { approved: 'yes' }, ({ approvals }) => approvals.length > 0),
    on('approved', { approved: 'no' }, ({ approvals }) => approvals.length === 0),
    on(
      'approved by',
      { approved_by_ids: [first, second] },
      ({ approvals }) => approvals.includes(first) && approvals.includes(second),
    ),
    on('approved by', { approved_by_ids: 'None' }, ({ approvals }) => approvals.length === 0),
    on('approved by', { approved_by_usernames: [one!.username] }, ({ approvals }) => approvals.includes(first)),
    on('approved by', { approved_by_usernames: ['nobody'] }, () => false),
    on('approver', { approver_ids: first }, ({ named }) => named.includes(first)),
    on('approver', { approver_ids: [first, second] }, ({ named }) => named.includes(first) && named.includes(second)),
    on('approver', { approver_ids: 'Any' }, ({ named }) => named.length > 0),
    on('approver', { approver_ids: 'None' }, ({ named }) => named.length === 0),
  ];
}

export function mergeRequestFilters(lists: ListWorld, random: Random): Filter[] {
  const [user, source] = [random.of(lists.users), random.of(Object.values(lists.projects))];
  const isDraft = ({ title }: Row) => title.startsWith('Draft:');
  return [
    ...stateFilters(['opened', 'closed', 'merged', 'locked']),
    ...searchesIn,
    ...milestoneFilters(random.of(milestoneTitles)),
    ...peopleFilters('assignee', ({ assignees }) => assignees, lists.users),
    ...peopleFilters('reviewer', ({ reviewers }) => reviewers, lists.users),
    ...scopeFilters({
      created_by_me: ({ author_id }) => [author_id],
      assigned_to_me: ({ assignees }) => assignees,
      'reviews-for-me': ({ reviewers }) => reviewers,
    }),
    ...approvalFilters(lists),
    on(
      'not reaction',
      { not: { my_reaction_emoji: 'rocket' } },
      (row, asker) => asker.id === undefined || !reacted(row, asker, 'rocket'),
    ),
    on('merge user', { merge_user_id: user.id }, ({ merge_user_id }) => merge_user_id === user.id),
    on('merge user', { merge_user_username: user.username }, ({ merge_user_id }) => merge_user_id === user.id),
    on('merge user', { merge_user_username: 'nobody' }, () => false),
    on('source', { source_branch: 'topic-7' }, ({ source_branch }) => source_branch === 'topic-7'),
    on('target', { target_branch: 'stable' }, ({ target_branch }) => target_branch === 'stable'),
    on(
      'source project',
      { source_project_id: source.id },
      (row, { reader }) => row.source === source && isVisible(reader, source),
    ),
    ...[true, false].map((draft) => on('draft', { draft }, (row) => isDraft(row) === draft)),
    ...['yes', 'no'].map((wip) => on('draft', { wip }, (row) => isDraft(row) === (wip === 'yes'))),
    on('deployed', { deployed_before: '2030-01-01T00:00:00Z' }, () => false),
    on('deployed', { deployed_after: '2010-01-01T00:00:00Z' }, () => false),
    on('environment', { environment: 'production' }, () => false),
  ];
}
