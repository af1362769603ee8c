/** Rules that grant an issue of the project in `:id` (issues.md section 2). */
import { type Kysely, type RawBuilder, type SqlBool, sql } from 'kysely';
import { type DB, inBatches, ofAnyLength } from '../db/index.ts';
import type { Access, AccessCall, Caller } from '../http/endpoint.ts';
import { badParams, forbidden, notFound, unauthorized } from '../http/errors.ts';
import { admin } from './instance.ts';
import { levels, type Role } from './levels.ts';
import { isMemberOfProject, isVisibleProject, type MaybeCaller, mayUse, type Project, projectVisible } from './projects.ts';

/** What decides on an issue, besides its project. */
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

interface Asked {
  user_id: number | null;
  project_id: number;
  iid: number;
}

const keyOf = ({ user_id, project_id, iid }: Asked) => `${user_id} ${project_id} ${iid}`;

const issuesAsked = inBatches<Asked, GrantedIssue>(keyOf, async (db, asked) => {
  const users = asked.map(({ user_id }) => user_id);
  const projects = asked.map(({ project_id }) => project_id);
  const iids = asked.map(({ iid }) => iid);
  const { rows } = await sql<{ question: number } & GrantedIssue>`
    select asked.question, issues.id, issues.iid, issues.project_id, title, state, issue_type, author_id, confidential, discussion_locked, moved_to_id,
           updated_at, coalesce(author_id = asked.user_id, false) or exists (
             select from issue_assignees where issue_id = issues.id and issue_assignees.user_id = asked.user_id) as is_own
      from unnest(${ofAnyLength(users, 'bigint[]')}, ${ofAnyLength(projects, 'bigint[]')}, ${ofAnyLength(iids, 'integer[]')})
           with ordinality asked(user_id, project_id, iid, question)
           join issues on issues.project_id = asked.project_id and issues.iid = asked.iid`.execute(db);
  return new Map(rows.map(({ question, ...issue }) => [keyOf(asked[question - 1]!), issue]));
});

const largestIid = 2 ** 31 - 1;

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
  if (!Number.isSafeInteger(iid) || Math.abs(iid) > largestIid) return undefined;
  return issuesAsked(db, { user_id: caller?.id ?? null, project_id: project.id, iid });
}

/** Whether the caller may read an issue of a project that he may know of. */
export function mayReadIssue(project: Project, issue: Pick<GrantedIssue, 'confidential' | 'is_own'>): boolean {
  if (!mayUse(project, 'issues')) return false;
  return !issue.confidential || issue.is_own || project.access_level >= levels.planner;
}

/** A predicate on rows of `issues`, each beside its row of `projects`: the caller may read the issue, as `mayReadIssue` says for one. */
export function isVisibleIssue(caller: MaybeCaller): RawBuilder<SqlBool> {
  if (caller?.admin) return sql`projects.issues_access_level <> 'disabled'`;
  const isUsable = sql<SqlBool>`(projects.issues_access_level = 'enabled'
    or (projects.issues_access_level = 'private' and ${isMemberOfProject(caller, levels.guest)}))`;
  return sql`(${isUsable} and ${isVisibleProject(caller)} and ${isOpenTo(caller)})`;
}

/** A predicate on rows of `issues`, each beside its row of `projects`: the issue is not confidential, or not to the caller. */
function isOpenTo(caller: MaybeCaller): RawBuilder<SqlBool> {
  if (!caller) return sql`not issues.confidential`;
  if (caller.admin) return sql`true`;
  return sql`(not issues.confidential or issues.author_id = ${caller.id}
    or exists (select from issue_assignees where issue_id = issues.id and user_id = ${caller.id})
    or ${isMemberOfProject(caller, levels.planner)})`;
}

interface Granted<C> {
  caller: C;
  project: Project;
  issue: GrantedIssue;
}

/** The number in `:issue_iid`. It is looked at before the input, which is read when access is granted. */
function iidIn({ params }: AccessCall): number {
  const text = params.issue_iid!;
  if (!/^-?\d+$/.test(text)) throw badParams('issue_iid is invalid');
  return Number(text);
}

/**
 * The issue in the path, if the caller may read it.
 * @param missing how the 404 names it
 * @throws ApiError 404
 */
async function issueInPath(call: AccessCall, project: Project, missing: string | undefined): Promise<GrantedIssue> {
  const issue = await issueFor(call.db, call.caller, project, iidIn(call));
  if (!issue || !mayReadIssue(project, issue)) throw notFound(missing);
  return issue;
}

const changes = (method: string) => method !== 'GET' && method !== 'HEAD';

/** Grants the project in `:id` to everyone who may read its issues, signed in or not. Where they are switched off for the caller there are none to find. */
export const issuesVisible: Access<{ caller: MaybeCaller; project: Project }> = {
  rule: 'project:issues',
  async check(call) {
    const granted = await projectVisible.check(call);
    if (!mayUse(granted.project, 'issues')) throw notFound();
    return granted;
  },
};

const visibleAs = (missing?: string): Access<Granted<MaybeCaller>> => ({
  rule: 'issue:visible',
  async check(call) {
    const { caller, project } = await projectVisible.check(call);
    const issue = await issueInPath(call, project, missing);
    if (project.read_only && changes(call.method)) throw forbidden();
    return { caller, project, issue };
  },
});

const readerAs = (missing?: string): Access<Granted<Caller>> => ({
  rule: 'issue:reader',
  async check(call) {
    if (!call.caller) throw unauthorized();
    return { ...(await visibleAs(missing).check(call)), caller: call.caller };
  },
});

/** Grants the issue in the path to everyone who may read it, signed in or not; to change something one must be signed in. */
export const issueVisible = visibleAs();
/** The same for those who are signed in. */
export const issueReader = readerAs();
/** The two for what is on an issue, where the 404 names it. */
export const namedIssueVisible = visibleAs('Issue');
export const namedIssueReader = readerAs('Issue');
/** The two for reactions to an issue or its notes, where the 404 names the reaction. */
export const awardedIssueVisible = visibleAs('Award Emoji');
export const awardedIssueReader = readerAs('Award Emoji');

/**
 * Grants the issue in the path to members of its project who hold at least `role`. Whoever does not is refused before the issue is looked for.
 * @param missing how the 404 names the issue
 */
export const issueRole = (role: Exclude<Role, 'minimal'>, missing?: string): Access<Granted<Caller>> => ({
  rule: `issue:${role}`,
  async check(call) {
    const { caller } = call;
    if (!caller) throw unauthorized();
    const { project } = await projectVisible.check(call);
    if (project.access_level < levels[role]) throw forbidden();
    if (project.read_only && changes(call.method)) throw forbidden();
    return { caller, project, issue: await issueInPath(call, project, missing) };
  },
});

/** Whether the caller may change an issue: members from Planner on, its author, its assignees. */
const mayUpdateIssue = (project: Project, issue: GrantedIssue): boolean =>
  project.access_level >= levels.planner || (issue.is_own && mayReadIssue(project, issue));

/**
 * Grants the issue in the path to those who may change it. To others one that they may not read is refused like those that they may.
 * @param missing how the 404 names the issue
 */
export const issueEditor = (missing?: string): Access<Granted<Caller>> => ({
  rule: 'issue:editor',
  async check(call) {
    const { caller } = call;
    if (!caller) throw unauthorized();
    const { project } = await projectVisible.check(call);
    const issue = await issueFor(call.db, caller, project, iidIn(call));
    if (!issue || !mayUse(project, 'issues')) throw notFound(missing);
    if (project.read_only || !mayUpdateIssue(project, issue)) throw forbidden();
    return { caller, project, issue };
  },
});

/** Grants administrators the issue in the path. */
export const issueForAdmin: Access<Granted<Caller>> = {
  rule: 'issue:admin',
  async check(call) {
    const { caller } = await admin.check(call);
    const { project } = await projectVisible.check(call);
    return { caller, project, issue: await issueInPath(call, project, undefined) };
  },
};
