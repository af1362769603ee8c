/** Access rules that grant an issue of the project in `:id`. */

import { type Kysely, type RawBuilder, type SqlBool, sql } from 'kysely';
import { type DB, dataLoader, ofAnyLength, type Slots, statement } from '../db/index.ts';
import { pagePath } from '../foundation/addresses.ts';
import { type Access, type AccessCall, type Caller, isReading } from '../http/endpoint.ts';
import { badParams, forbidden, notFound, unauthorized } from '../http/errors.ts';
import { maximumIid } from '../http/ids.ts';
import { admin, type MaybeCaller } from './instance.ts';
import { levels, type Role } from './levels.ts';
import type { Issuable, IssuableKind, NoteableAddress, NumberedIssuable, OnNoteable } from './noteables.ts';
import { callerAsReader, type ProjectReader, readRule, usesFeature } from './project_readers.ts';
import { mayUse, type Project, projectInPath, projectVisible, refuseReadOnly } from './projects.ts';
import { isUserOfProject } from './readers.ts';

/** The columns that decide on access to an issue, besides its project. */
export interface GrantedIssue {
  id: number;
  iid: number;
  project_id: number;
  title: string;
  state: 'opened' | 'closed';
  issue_type: 'issue' | 'incident' | 'test_case' | 'task';
  author_id: number | null;
  confidential: boolean;
  discussion_locked: boolean | null;
  moved_to_id: number | null;
  updated_at: string;
  /** Whether the caller is its author or one of its assignees. */
  is_own: boolean;
}

interface IssueQuestion {
  user_id: number | null;
  project_id: number;
  iid: number;
}

const keyOf = ({ user_id, project_id, iid }: IssueQuestion) => `${user_id} ${project_id} ${iid}`;

/** An SQL expression on rows of `issues`: whether the user is the author or one of the assignees. */
const isOf = (user_id: RawBuilder<unknown>) => sql<boolean>`
  (coalesce(issues.author_id = ${user_id}, false)
   or exists (select from issue_assignees where issue_id = issues.id and issue_assignees.user_id = ${user_id}))`;

interface AskedColumns {
  users: (number | null)[];
  projects: number[];
  iids: number[];
}

const issuesNumbered = statement(
  ({ users, projects, iids }: Slots<AskedColumns>) => sql<{ question: number } & GrantedIssue>`
    select asked.question, issues.id, issues.iid, issues.project_id, title, state, issue_type, author_id, confidential, discussion_locked, moved_to_id,
           updated_at, ${isOf(sql`asked.user_id`)} as is_own
      from unnest(${ofAnyLength(users, 'bigint[]')}, ${ofAnyLength(projects, 'bigint[]')}, ${ofAnyLength(iids, 'integer[]')})
           with ordinality asked(user_id, project_id, iid, question)
           join issues on issues.project_id = asked.project_id and issues.iid = asked.iid`,
);

const issuesAsked = dataLoader<IssueQuestion, GrantedIssue>(keyOf, async (db, asked) => {
  const rows = await issuesNumbered(db, {
    users: asked.map(({ user_id }) => user_id),
    projects: asked.map(({ project_id }) => project_id),
    iids: asked.map(({ iid }) => iid),
  });
  return new Map(rows.map(({ question, ...issue }) => [keyOf(asked[question - 1]!), issue]));
});

const isIid = (number: number) => Number.isSafeInteger(number) && Math.abs(number) <= maximumIid;

/**
 * The issue with a number, whether the caller may read it or not.
 * @param iid its number in the project
 */
export async function issueFor(
  db: Kysely<DB>,
  caller: MaybeCaller,
  project: Pick<Project, 'id'>,
  iid: number,
): Promise<GrantedIssue | undefined> {
  if (!isIid(iid)) return undefined;
  return issuesAsked(db, { user_id: caller?.id ?? null, project_id: project.id, iid });
}

/** Whether the caller may read an issue of a visible project. */
export function mayReadIssue(project: Project, issue: Pick<GrantedIssue, 'confidential' | 'is_own'>): boolean {
  if (!mayUse(project, 'issues')) return false;
  return !issue.confidential || issue.is_own || project.access_level >= levels.planner;
}

const isOwn = ({ id }: Pick<ProjectReader, 'id'>): RawBuilder<SqlBool> =>
  id
    ? sql`(issues.author_id = ${id} or exists (select from issue_assignees where issue_id = issues.id and user_id = ${id}))`
    : sql`false`;

/** Who may read an issue, as `mayReadIssue` decides for one. */
const issueRule = readRule(
  sql`projects.issues_access_level <> 'disabled'`,
  (reader) => sql`
    (${usesFeature(reader, 'issues')} and ${reader.knowsProject} and (not issues.confidential or ${isOwn(reader)} or ${reader.isMember(levels.planner)}))`,
);

/** A predicate on rows of `issues` joined with `projects`: the caller may read the issue. */
export const isVisibleIssue = issueRule.isVisible;

/** A predicate on rows of `issues`: the caller is its author or one of its assignees. */
export const isOwnIssue = (caller: MaybeCaller): RawBuilder<SqlBool> => isOwn(callerAsReader(caller));

interface Granted<C> {
  caller: C;
  project: Project;
  issue: GrantedIssue;
}

interface Found {
  project: Project;
  /** Whether the caller may read it or not. */
  issue: GrantedIssue | undefined;
}

const isNumber = (text: string) => /^-?\d+$/.test(text);

/**
 * The project and the issue in the path, if the project is visible to the caller. The number in `:issue_iid` is checked before the input, which is read after access
 * is granted.
 * @param admits refuses callers by the project, before they learn anything about the issue
 * @throws ApiError 400 for a value that is not a number
 */
async function foundInPath(call: AccessCall, admits: (project: Project) => void = () => {}): Promise<Found> {
  if (!call.caller && !isReading(call.method)) throw unauthorized();
  const text = call.params.issue_iid!;
  const project = await projectInPath(call);
  admits(project);
  if (!isNumber(text)) throw badParams('issue_iid is invalid');
  return { project, issue: await issueFor(call.db, call.caller, project, Number(text)) };
}

/**
 * The issue that was found, if the caller may read it.
 * @param missing how the 404 names it
 * @throws ApiError 404
 */
function readable({ project, issue }: Found, missing: string | undefined): GrantedIssue {
  if (!issue || !mayReadIssue(project, issue)) throw notFound(missing);
  return issue;
}

/** Grants the project in `:id` to everyone who may read its issues, signed in or not. Others get 404. */
export const issuesVisible: Access<{ caller: MaybeCaller; project: Project }> = {
  rule: 'project:read_issues',
  anonymous: true,
  async check(call) {
    const granted = await projectVisible.check(call);
    if (!mayUse(granted.project, 'issues')) throw notFound();
    return granted;
  },
};

const visibleAs = (missing?: string): Access<Granted<MaybeCaller>> => ({
  rule: 'issue:visible',
  anonymous: true,
  async check(call) {
    const found = await foundInPath(call);
    const issue = readable(found, missing);
    if (!isReading(call.method)) refuseReadOnly(found.project);
    return { caller: call.caller, project: found.project, issue };
  },
});

const readerAs = (missing?: string): Access<Granted<Caller>> => ({
  rule: 'issue:reader',
  async check(call) {
    if (!call.caller) throw unauthorized();
    return { ...(await visibleAs(missing).check(call)), caller: call.caller };
  },
});

/** Grants the issue in the path to everyone who may read it; changes require a signed-in caller. */
export const issueVisible = visibleAs();
/** The same for signed-in callers. */
export const issueReader = readerAs();
/** The same, with a 404 that names the issue. */
export const namedIssueReader = readerAs('Issue');

/**
 * Grants the issue in the path to members of its project who have at least `role`. Others are refused before they learn whether it exists.
 * @param missing how the 404 names the issue
 */
export const issueRole = (role: Exclude<Role, 'minimal'>, missing?: string): Access<Granted<Caller>> => ({
  rule: `issue:${role}`,
  async check(call) {
    const { caller } = call;
    if (!caller) throw unauthorized();
    const found = await foundInPath(call, (project) => {
      if (project.access_level < levels[role]) throw forbidden();
      if (!isReading(call.method)) refuseReadOnly(project);
    });
    return { caller, project: found.project, issue: readable(found, missing) };
  },
});

/** Whether the caller may update an issue: Planners and above, its author, its assignees. */
const mayUpdateIssue = (project: Project, issue: GrantedIssue): boolean =>
  project.access_level >= levels.planner || (issue.is_own && mayReadIssue(project, issue));

/** @throws ApiError 403 for callers who may not update an issue of a visible project */
export function checkMayUpdateIssue(project: Project, issue: GrantedIssue): void {
  if (!mayUpdateIssue(project, issue)) throw forbidden();
  refuseReadOnly(project);
}

/**
 * Grants the issue in the path to callers who may update it. Others get 403, whether they may read the issue or not.
 * @param missing how the 404 names the issue
 */
export const issueEditor = (missing?: string): Access<Granted<Caller>> => ({
  rule: 'issue:editor',
  async check(call) {
    const { caller } = call;
    if (!caller) throw unauthorized();
    const { project, issue } = await foundInPath(call);
    if (!issue || !mayUse(project, 'issues')) throw notFound(missing);
    checkMayUpdateIssue(project, issue);
    return { caller, project, issue };
  },
});

/** Grants administrators the issue in the path. */
export const issueForAdmin: Access<Granted<Caller>> = {
  rule: 'issue:admin',
  async check(call) {
    const { caller } = await admin.check(call);
    const found = await foundInPath(call);
    return { caller, project: found.project, issue: readable(found, undefined) };
  },
};

const granting = <C>(access: Access<Granted<C>>): Access<OnNoteable<C, NumberedIssuable>> => ({
  ...access,
  async check(call) {
    const { caller, project, issue } = await access.check(call);
    const locked = issue.discussion_locked === true;
    const { id, iid } = issue;
    return { caller, on: { kind: issueKind, id, iid, in: { project }, access_level: project.access_level, locked } };
  },
});

/** Grants the issue in the path to callers who may track its time: Planners and above. */
export const issueTracker = granting(issueRole('planner'));

const at: NoteableAddress<NumberedIssuable> = {
  path: '/projects/:id/issues/:issue_iid',
  visible: (missing) => granting(visibleAs(missing)),
  reader: (missing) => granting(readerAs(missing)),
};

/** Issues as noteables. */
export const issueKind: IssuableKind = {
  name: 'issue',
  type: 'Issue',
  table: 'issues',
  column: 'issue_id',
  place_column: 'project_id',
  places: 'projects',
  reference: 'issue',
  sign: '#',
  page: pagePath('/:project/-/issues/:issue_iid'),
  assignees: 'issue_assignees',
  reviewers: undefined,
  labels: 'issue_labels',
  at,
  threads_comments: true,
  discussed_at: at,
  endpoints: (all) => [...all],
  ...issueRule,
  isReadInside: sql`(users.admin or ${isUserOfProject(levels.planner)})`,
};

export const theIssue = (id: number): Issuable => ({ kind: issueKind, id });
