/** The parameters for creating and updating issues (docs/reference/issues.md). */
import { type Static, type TObject, Type } from 'typebox';
import { epicKind, type Project } from '../../../access/index.ts';
import type { Database } from '../../../db/index.ts';
import {
  allOptional,
  atLeastOneOf,
  type Caller,
  ClearableList,
  CommaList,
  checked,
  DateOnly,
  deprecated,
  found,
  Id,
  IdOf,
  invalid,
  longText,
  mutuallyExclusive,
  notEmpty,
  nullable,
  type Plan,
  type Rule,
  since,
  Timestamp,
  unprocessable,
} from '../../../http/index.ts';
import { descriptionReasons, titleReasons } from '../../../texts/index.ts';
import { iterationFor } from '../../planning/iterations/index.ts';
import { milestoneFor } from '../../planning/milestones/index.ts';
import { epicNumbered } from '../epics/issue_actions.ts';
import { noMatchText, peopleReasons } from '../issuables/rules.ts';
import type { IssueChanges } from './change_actions.ts';
import type { NewIssue } from './creation_actions.ts';
import { assignableUsers } from './lists/assignee_queries.ts';
import { checkKind, createsLabels, heardOnChange, heardOnNew, numberReasons, weightReasons } from './rules.ts';

const title = checked(Type.String({ description: 'At most 255 characters' }), titleReasons);
const EpicNumber = (options = {}) => since('premium', nullable(IdOf({ minimum: 0, ...options })));

const common = {
  description: longText(
    checked(nullable(Type.String({ description: 'At most 1,048,576 characters' })), descriptionReasons),
  ),
  assignee_ids: ClearableList(Id),
  assignee_id: deprecated('use `assignee_ids`', nullable(Type.Integer())),
  milestone_id: nullable(Type.Integer({ description: '0: none' })),
  labels: ClearableList(Type.String({ description: 'Titles' })),
  add_labels: CommaList(Type.String({ description: 'Titles of labels to add' })),
  remove_labels: CommaList(Type.String({ description: 'Titles of labels to remove' })),
  due_date: nullable(DateOnly),
  confidential: notEmpty(Type.Boolean()),
  discussion_locked: Type.Boolean(),
  issue_type: Type.Enum(['issue', 'incident', 'test_case', 'task']),
  weight: since('premium', checked(nullable(Type.Integer()), weightReasons)),
  epic_id: EpicNumber({ description: '0: none' }),
  epic_iid: deprecated('use `epic_id`', EpicNumber()),
};

export const newIssueInput = {
  title,
  ...allOptional({
    ...common,
    created_at: Timestamp,
    iid: checked(Type.Integer(), numberReasons),
    merge_request_to_resolve_discussions_of: Type.Integer({
      description: 'Has no effect: threads of merge requests cannot be resolved',
    }),
    discussion_to_resolve: Type.String({ description: 'Has no effect: threads of merge requests cannot be resolved' }),
  }),
};

export const editInput = allOptional({
  title,
  ...common,
  state_event: Type.Enum(['close', 'reopen']),
  iteration_id: since('premium', nullable(Type.Integer({ minimum: 0, description: '0: none' }))),
  health_status: since('ultimate', nullable(Type.Enum(['on_track', 'needs_attention', 'at_risk']))),
  created_at: Timestamp,
  updated_at: notEmpty(Timestamp),
});

const oneEpic: Rule = mutuallyExclusive('epic_id', 'epic_iid');

export const newIssueRules: readonly Rule[] = [
  oneEpic,
  (given) =>
    given.has('discussion_to_resolve') && !given.has('merge_request_to_resolve_discussions_of')
      ? 'merge_request_to_resolve_discussions_of is missing'
      : undefined,
];

const oneOfTheList = atLeastOneOf(
  'assignee_id',
  'assignee_ids',
  'confidential',
  'created_at',
  'description',
  'discussion_locked',
  'due_date',
  'labels',

  'add_labels',
  'remove_labels',
  'milestone_id',
  'state_event',
  'title',
  'issue_type',
  'weight',
  'epic_id',
  'epic_iid',
);

export const editRules: readonly Rule[] = [
  oneEpic,
  // The refusal lists the parameters of the reference; these two are accepted in addition.
  (given) => (given.has('iteration_id') || given.has('health_status') ? undefined : oneOfTheList(given)),
];

type EditInput = Partial<Static<TObject<typeof editInput>>>;

/** The caller, and the project in which ids are looked up. */
export interface IssueParent {
  db: Database;
  caller: Caller;
  plan: Plan;
  project: Project;
}

/**
 * The assignees: the users who can be assigned; only the first one if the plan allows no more.
 * @param issue the issue whose assignees are replaced: current assignees can stay; omitted for a new issue
 * @returns undefined if the assignees do not change, also if none of the given users can be assigned
 * @throws ApiError 400 for too many assignees
 */
async function assigneesOf(
  { db, plan, project }: IssueParent,
  { assignee_ids, assignee_id }: EditInput,
  issue?: { id: number },
): Promise<number[] | undefined> {
  const given = assignee_ids ?? (assignee_id === undefined ? undefined : assignee_id === null ? [] : [assignee_id]);
  if (given === undefined) return undefined;
  const reasons = peopleReasons(given);
  if (reasons.length > 0) throw invalid({ assignees: reasons });
  const fit = new Set([
    ...(await assignableUsers(db, project, given)),
    ...(issue ? await presentAssignees(db, issue.id) : []),
  ]);
  const wanted = [...new Set(given)].filter((id) => id > 0);
  const assignees = wanted.filter((id) => fit.has(id));
  if (assignees.length === 0 && wanted.length > 0) return undefined;
  return plan === 'free' ? assignees.slice(0, 1) : assignees;
}

const presentAssignees = async (db: Database, issue_id: number): Promise<number[]> => {
  const rows = await db.selectFrom('issue_assignees').select('user_id').where('issue_id', '=', issue_id).execute();
  return rows.map(({ user_id }) => user_id);
};

/** @throws ApiError 404 for a milestone that issues of the project cannot have */
async function milestoneOf(
  { db, project }: IssueParent,
  { milestone_id }: EditInput,
): Promise<number | null | undefined> {
  if (milestone_id === undefined) return undefined;
  if (milestone_id === null || milestone_id === 0) return null;
  return found('Milestone', await milestoneFor(db, project, milestone_id)).id;
}

/** @throws ApiError 404 for an iteration that issues of the project cannot be in */
async function iterationOf(
  { db, project }: IssueParent,
  { iteration_id }: EditInput,
): Promise<number | null | undefined> {
  if (iteration_id === undefined) return undefined;
  if (iteration_id === null || iteration_id === 0) return null;
  return found('Iteration', await iterationFor(db, project, iteration_id)).id;
}

/** @throws ApiError 422 for an unknown epic */
async function epicOf(
  { db, caller, project }: IssueParent,
  { epic_id, epic_iid }: EditInput,
): Promise<number | null | undefined> {
  if (epic_id !== undefined) return epic_id === 0 ? null : epic_id;
  if (epic_iid === undefined) return undefined;
  if (epic_iid === null || epic_iid === 0) return null;
  const id = await epicNumbered(db, caller, project, epic_iid);
  if (id === undefined) throw unprocessable(noMatchText(epicKind));
  return id;
}

const labelled = ({ labels = [], add_labels = [], remove_labels = [] }: EditInput): string[] =>
  [...labels, ...add_labels].filter((label) => !remove_labels.includes(label));

/**
 * Converts the effective parameters to a new issue.
 * @throws ApiError 400, 403, 404 and 422 for invalid values
 */
export async function newIssueFrom(
  parent: IssueParent,
  input: Static<TObject<typeof newIssueInput>>,
): Promise<NewIssue> {
  const given = heardOnNew(parent.project, input);
  checkKind(parent.project, given.issue_type);
  const { description, due_date, confidential, discussion_locked, issue_type, weight, created_at, iid } = given;
  return {
    title: given.title.trim(),
    description,
    due_date,
    confidential,
    discussion_locked,
    issue_type,
    weight,
    created_at,
    iid,
    labels: labelled(given),
    creates_labels: createsLabels(parent.project),
    assignee_ids: await assigneesOf(parent, given),
    milestone_id: await milestoneOf(parent, given),
    epic_id: await epicOf(parent, given),
  };
}

/**
 * Converts the effective parameters to changes.
 * @param issue the issue before the change
 * @throws ApiError 400, 403, 404 and 422 for invalid values
 */
export async function changesFrom(
  parent: IssueParent,
  issue: { id: number; discussion_locked: boolean | null },
  input: Static<TObject<typeof editInput>>,
): Promise<IssueChanges> {
  const given = heardOnChange(parent.project, issue, input);
  checkKind(parent.project, given.issue_type);
  const { description, state_event, issue_type, confidential, discussion_locked, due_date, weight } = given;
  const { labels, add_labels, remove_labels, health_status, created_at, updated_at } = given;
  return {
    title: given.title?.trim(),
    description,
    state_event,
    issue_type,
    confidential,
    discussion_locked,
    due_date,
    weight,
    labels,
    add_labels,
    remove_labels,
    health_status,
    created_at,
    updated_at,
    creates_labels: createsLabels(parent.project),
    assignee_ids: await assigneesOf(parent, given, issue),
    milestone_id: await milestoneOf(parent, given),
    iteration_id: await iterationOf(parent, given),
    epic_id: await epicOf(parent, given),
  };
}
