/** The parameters for creating and updating issues (docs/reference/issues.md). */
import { type Static, type TObject, Type } from 'typebox';
import { epicKind, levels, type Project } from '../../../access/index.ts';
import type { Database } from '../../../db/index.ts';
import { creationOf, editOf } from '../../../fields/index.ts';
import {
  allOptional,
  atLeastOneOf,
  type Caller,
  checked,
  found,
  invalid,
  mutuallyExclusive,
  notEmpty,
  type Plan,
  type Rule,
  Timestamp,
  unprocessable,
} from '../../../http/index.ts';
import { iterationFor } from '../../planning/iterations/index.ts';
import { milestoneFor } from '../../planning/milestones/index.ts';
import { epicNumbered } from '../epics/issue_actions.ts';
import { noMatchText, peopleReasons } from '../issuables/rules.ts';
import type { IssueChanges } from './change_actions.ts';
import type { NewIssue } from './creation_actions.ts';
import { type IssueField, issueFields } from './fields.ts';
import { assignableUsers } from './lists/assignee_queries.ts';
import { checkKind, createsLabels, numberReasons } from './rules.ts';

export const newIssueInput = {
  ...creationOf(issueFields),
  ...allOptional({
    created_at: Timestamp,
    iid: checked(Type.Integer(), numberReasons),
    merge_request_to_resolve_discussions_of: Type.Integer({
      description: 'Has no effect: threads of merge requests cannot be resolved',
    }),
    discussion_to_resolve: Type.String({ description: 'Has no effect: threads of merge requests cannot be resolved' }),
  }),
};

export const editInput = {
  ...editOf(issueFields),
  ...allOptional({ created_at: Timestamp, updated_at: notEmpty(Timestamp) }),
};

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

const editable = Object.keys(editOf(issueFields));

export const editRules: readonly Rule[] = [
  oneEpic,
  // The refusal does not list all parameters that are accepted.
  (given) => (editable.some((name) => given.has(name)) ? undefined : oneOfTheList(given)),
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

/** Parameters for owners only. */
const forOwners: ReadonlySet<string> = new Set(['iid', 'created_at', 'updated_at']);

const setBy = (name: string) => (issueFields as Record<string, IssueField>)[name]?.set_by;

/** The parameters that the caller may set. As documented, others are ignored and not validated. */
function heard<T extends object>({ access_level }: Project, given: T, may: (name: string) => boolean): T {
  const isHeard = (name: string) =>
    forOwners.has(name) ? access_level >= levels.owner : !(name in issueFields) || may(name);
  return Object.fromEntries(Object.entries(given).filter(([name]) => isHeard(name))) as T;
}

const heardOnNew = <T extends object>(project: Project, given: T): T =>
  heard(project, given, (name) => project.access_level >= levels.guest || setBy(name) !== undefined);

/** @param issue the issue before the change */
function heardOnChange<T extends { state_event?: 'close' | 'reopen' }>(
  project: Project,
  { discussion_locked }: { discussion_locked: boolean | null },
  given: T,
): T {
  const { access_level } = project;
  const staysClosed = given.state_event === 'reopen' && discussion_locked === true && access_level < levels.guest;
  return heard(
    project,
    given,
    (name) => access_level >= levels.planner || (setBy(name) === 'anyone' && !(name === 'state_event' && staysClosed)),
  );
}

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
  return {
    ...given,
    title: given.title.trim(),
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
  return {
    ...given,
    title: given.title?.trim(),
    creates_labels: createsLabels(parent.project),
    assignee_ids: await assigneesOf(parent, given, issue),
    milestone_id: await milestoneOf(parent, given),
    iteration_id: await iterationOf(parent, given),
    epic_id: await epicOf(parent, given),
  };
}
