/** The parameters for creating and updating merge requests (docs/reference/merge_requests.md). */
import { type Static, type TObject, Type } from 'typebox';
import { levels, type Project } from '../../../access/index.ts';
import type { Database } from '../../../db/index.ts';
import { creationOf, editOf, inOrder } from '../../../fields/index.ts';
import { atLeastOneOf, found, Id, invalid, type Plan, type Rule } from '../../../http/index.ts';
import { milestoneFor } from '../../planning/milestones/index.ts';
import { peopleReasons } from '../issuables/rules.ts';
import type { MergeRequestChanges } from './change_actions.ts';
import type { NewMergeRequest } from './creation_actions.ts';
import { mergeRequestFields } from './fields.ts';
import { readersAmong } from './lists/people_queries.ts';

const order = [
  ...['title', 'source_branch', 'target_branch', 'target_project_id', 'assignee_ids', 'assignee_id', 'reviewer_ids'],
  ...['description', 'milestone_id', 'labels', 'add_labels', 'remove_labels', 'remove_source_branch', 'squash'],
  ...['allow_collaboration', 'allow_maintainer_to_push', 'merge_after'],
];

export const newMergeRequestInput = inOrder(order, {
  ...creationOf(mergeRequestFields),
  source_branch: Type.String(),
  target_project_id: Type.Optional(Id),
});

export const editInput = inOrder(order, editOf(mergeRequestFields));

export const editRules: readonly Rule[] = [
  atLeastOneOf(
    'assignee_id',
    'assignee_ids',
    'reviewer_ids',
    'description',
    'labels',
    'add_labels',
    'remove_labels',
    'milestone_id',
    'remove_source_branch',
    'allow_collaboration',
    'allow_maintainer_to_push',
    'squash',
    'target_branch',
    'title',
    'state_event',
    'discussion_locked',
    'merge_after',
  ),
];

type CommonInput = Static<TObject<typeof editInput>>;

/** The context in which ids are looked up. */
export interface Parent {
  db: Database;
  plan: Plan;
  /** The target project. */
  project: Project;
}

/**
 * The eligible users among those to assign or to request a review from; only the first one if the plan allows no more.
 * @param merge_request_id the merge request whose people are replaced: current ones can stay; omitted for a new one
 * @returns undefined if they do not change, also if none of the given users is eligible
 * @throws ApiError 400 by `field` for too many users
 */
async function peopleOf(
  { db, plan, project }: Parent,
  field: 'assignees' | 'reviewers',
  given: readonly number[] | undefined,
  merge_request_id?: number,
): Promise<number[] | undefined> {
  if (given === undefined) return undefined;
  const reasons = peopleReasons(given);
  if (reasons.length > 0) throw invalid({ [field]: reasons });
  const present = merge_request_id === undefined ? [] : await chosenNow(db, field, merge_request_id);
  const fit = new Set([...(await readersAmong(db, project, given)), ...present]);
  const wanted = [...new Set(given)].filter((id) => id > 0);
  const people = wanted.filter((id) => fit.has(id));
  if (people.length === 0 && wanted.length > 0) return undefined;
  return plan === 'free' ? people.slice(0, 1) : people;
}

async function chosenNow(db: Database, field: 'assignees' | 'reviewers', merge_request_id: number): Promise<number[]> {
  const query = db
    .selectFrom(`merge_request_${field}`)
    .select('user_id')
    .where('merge_request_id', '=', merge_request_id);
  return (await query.execute()).map(({ user_id }) => user_id);
}

const assigneesGiven = ({ assignee_ids, assignee_id }: CommonInput): readonly number[] | undefined =>
  assignee_ids ?? (assignee_id === undefined ? undefined : assignee_id === null ? [] : [assignee_id]);

/** @throws ApiError 404 for a milestone that merge requests of the project cannot have */
async function milestoneOf({ db, project }: Parent, { milestone_id }: CommonInput): Promise<number | null | undefined> {
  if (milestone_id === undefined) return undefined;
  if (milestone_id === null || milestone_id === 0) return null;
  return found('Milestone', await milestoneFor(db, project, milestone_id)).id;
}

/** Whether missing labels are created when the caller uses them. */
const createsLabels = ({ access_level }: Project): boolean => access_level >= levels.planner;

/**
 * Converts the parameters to a new merge request, without its branches.
 * @throws ApiError 400 and 404 for invalid values
 */
export async function newMergeRequestFrom(
  parent: Parent,
  given: Static<TObject<typeof newMergeRequestInput>>,
): Promise<NewMergeRequest> {
  const { labels = [], add_labels = [], remove_labels = [] } = given;
  return {
    ...given,
    title: given.title.trim(),
    force_remove_source_branch: given.remove_source_branch,
    allow_collaboration: given.allow_collaboration ?? given.allow_maintainer_to_push,
    labels: [...labels, ...add_labels].filter((label) => !remove_labels.includes(label)),
    creates_labels: createsLabels(parent.project),
    assignee_ids: (await peopleOf(parent, 'assignees', assigneesGiven(given))) ?? [],
    reviewer_ids: (await peopleOf(parent, 'reviewers', given.reviewer_ids)) ?? [],
    milestone_id: await milestoneOf(parent, given),
  };
}

/**
 * Converts the parameters to changes.
 * @param merge_request the merge request before the change
 * @throws ApiError 400 and 404 for invalid values
 */
export async function changesFrom(
  parent: Parent,
  { id }: { id: number },
  given: Static<TObject<typeof editInput>>,
): Promise<MergeRequestChanges> {
  return {
    ...given,
    title: given.title?.trim(),
    force_remove_source_branch: given.remove_source_branch,
    allow_collaboration: given.allow_collaboration ?? given.allow_maintainer_to_push,
    creates_labels: createsLabels(parent.project),
    assignee_ids: await peopleOf(parent, 'assignees', assigneesGiven(given), id),
    reviewer_ids: await peopleOf(parent, 'reviewers', given.reviewer_ids, id),
    milestone_id: await milestoneOf(parent, given),
  };
}
