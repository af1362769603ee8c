/** Access rules that grant a merge request of the project in `:id` (docs/reference/merge_requests.md#permissions). */
import { type Kysely, type SqlBool, sql } from 'kysely';
import { type DB, dataLoader, ofAnyLength, type Slots, statement } from '../db/index.ts';
import { pagePath } from '../foundation/addresses.ts';
import { type Access, type AccessCall, type Caller, isReading } from '../http/endpoint.ts';
import { badParams, forbidden, notFound, unauthorized } from '../http/errors.ts';
import { maximumIid } from '../http/ids.ts';
import type { MaybeCaller } from './instance.ts';
import { levels, type Role } from './levels.ts';
import type { Issuable, IssuableKind, NoteableAddress, NumberedIssuable, OnNoteable } from './noteables.ts';
import { holds } from './permissions.ts';
import { readRule, userAsReader } from './project_readers.ts';
import { type Project, projectVisible, refuseReadOnly } from './projects.ts';
import { isUserOfProject } from './readers.ts';

/** The columns that decide on access to a merge request and on its changes, besides its project. */
export interface GrantedMergeRequest {
  id: number;
  iid: number;
  /** The target. */
  project_id: number;
  /** Null when the fork is gone. */
  source_project_id: number | null;
  source_branch: string;
  target_branch: string;
  title: string;
  state: 'opened' | 'closed' | 'merged' | 'locked';
  draft: boolean;
  author_id: number | null;
  discussion_locked: boolean | null;
  /** The head of the source branch when it was last read. */
  head_commit_id: string | null;
  latest_version_id: number | null;
  updated_at: string;
  /** Whether the caller is its author or one of its assignees. */
  is_own: boolean;
}

interface MergeRequestQuestion {
  user_id: number | null;
  project_id: number;
  iid: number;
}

const keyOf = ({ user_id, project_id, iid }: MergeRequestQuestion) => `${user_id} ${project_id} ${iid}`;

interface AskedColumns {
  users: (number | null)[];
  projects: number[];
  iids: number[];
}

const mergeRequestsNumbered = statement(
  ({ users, projects, iids }: Slots<AskedColumns>) => sql<{ question: number } & GrantedMergeRequest>`
    select asked.question, merge_requests.id, merge_requests.iid, merge_requests.project_id, source_project_id, source_branch, target_branch, title, state, draft,
           author_id, discussion_locked, head_commit_id, latest_version_id, updated_at,
           (coalesce(author_id = asked.user_id, false)
            or exists (select from merge_request_assignees where merge_request_id = merge_requests.id and merge_request_assignees.user_id = asked.user_id)) as is_own
      from unnest(${ofAnyLength(users, 'bigint[]')}, ${ofAnyLength(projects, 'bigint[]')}, ${ofAnyLength(iids, 'integer[]')})
           with ordinality asked(user_id, project_id, iid, question)
           join merge_requests on merge_requests.project_id = asked.project_id and merge_requests.iid = asked.iid`,
);

const mergeRequestsAsked = dataLoader<MergeRequestQuestion, GrantedMergeRequest>(keyOf, async (db, asked) => {
  const rows = await mergeRequestsNumbered(db, {
    users: asked.map(({ user_id }) => user_id),
    projects: asked.map(({ project_id }) => project_id),
    iids: asked.map(({ iid }) => iid),
  });
  return new Map(rows.map(({ question, ...merge_request }) => [keyOf(asked[question - 1]!), merge_request]));
});

/**
 * The merge request with a number, whether the caller may read it or not.
 * @param project the target
 * @param iid its number in the project
 */
async function mergeRequestFor(
  db: Kysely<DB>,
  caller: MaybeCaller,
  project: Pick<Project, 'id'>,
  iid: number,
): Promise<GrantedMergeRequest | undefined> {
  if (!Number.isSafeInteger(iid) || Math.abs(iid) > maximumIid) return undefined;
  return mergeRequestsAsked(db, { user_id: caller?.id ?? null, project_id: project.id, iid });
}

/** Whether a project has merge requests at all: they show code, so without the repository it has none. */
export const hasMergeRequests = (
  project: Pick<Project, 'merge_requests_access_level' | 'repository_access_level'>,
): boolean => project.merge_requests_access_level !== 'disabled' && project.repository_access_level !== 'disabled';

/** Whether the caller may read the merge requests of a visible project: its Reporters, those who may approve, and everyone if the code is open to everyone. */
export function mayReadMergeRequests(project: Project): boolean {
  if (!hasMergeRequests(project)) return false;
  if (project.access_level >= levels.reporter || holds(project, 'admin_merge_request', 'project')) return true;
  const isOpen = project.merge_requests_access_level === 'enabled' && project.repository_access_level === 'enabled';
  return isOpen && project.visibility !== 'private';
}

/** Whether the caller may approve the merge requests of a visible project: Developers and above, and members whose custom role permits it. */
export const mayApproveMergeRequests = (project: Project): boolean =>
  mayReadMergeRequests(project) && holds(project, 'admin_merge_request', 'project');

const areOn = sql<SqlBool>`(projects.merge_requests_access_level <> 'disabled' and projects.repository_access_level <> 'disabled')`;
const areOpen = sql<SqlBool>`
  (projects.merge_requests_access_level = 'enabled' and projects.repository_access_level = 'enabled' and projects.visibility <> 'private')`;

/** Who may read the merge requests of a project, as `mayReadMergeRequests` decides for one. */
const mergeRequestRule = readRule(
  areOn,
  ({ isMember, isPermitted, knowsProject }) => sql`
    (${areOn} and (${isMember(levels.reporter)} or ${isPermitted('admin_merge_request')} or (${areOpen} and ${knowsProject})))`,
);

/** A predicate on rows of `users` joined with `projects`: the user may approve merge requests there, as `mayApproveMergeRequests` decides for a caller. */
export const isApprover = sql<SqlBool>`
  (users.state = 'active' and ${areOn} and (users.admin or ${isUserOfProject(levels.developer)} or ${userAsReader.isPermitted('admin_merge_request')}))`;

interface Granted<C> {
  caller: C;
  /** The target. */
  project: Project;
  merge_request: GrantedMergeRequest;
}

/**
 * The merge request in the path, if the caller may read it.
 * @param missing how the 404 names it
 * @throws ApiError 400 for a value that is not a number, 403 in a project without merge requests, 404
 */
async function readableIn(
  { db, caller, params }: AccessCall,
  project: Project,
  missing?: string,
): Promise<GrantedMergeRequest> {
  if (!hasMergeRequests(project)) throw missing === undefined ? forbidden() : notFound(missing);
  const text = params.merge_request_iid!;
  if (!/^-?\d+$/.test(text)) throw badParams('merge_request_iid is invalid');
  const merge_request = mayReadMergeRequests(project)
    ? await mergeRequestFor(db, caller, project, Number(text))
    : undefined;
  if (!merge_request) throw notFound(missing);
  return merge_request;
}

/** Grants the project in `:id` to everyone who may read its merge requests, signed in or not. Others who can see it get 403. */
export const mergeRequestsVisible: Access<{ caller: MaybeCaller; project: Project }> = {
  rule: 'project:read_merge_requests or admin_merge_request',
  anonymous: true,
  async check(call) {
    const granted = await projectVisible.check(call);
    if (!mayReadMergeRequests(granted.project)) throw forbidden();
    return granted;
  },
};

/** The same for signed-in callers. */
export const mergeRequestsReader: Access<{ caller: Caller; project: Project }> = {
  rule: 'project:read_merge_requests or admin_merge_request, signed in',
  async check(call) {
    if (!call.caller) throw unauthorized();
    return { ...(await mergeRequestsVisible.check(call)), caller: call.caller };
  },
};

const visibleAs = (missing?: string): Access<Granted<MaybeCaller>> => ({
  rule: 'merge_request:visible',
  anonymous: true,
  async check(call) {
    const { caller, project } = await projectVisible.check(call);
    const merge_request = await readableIn(call, project, missing);
    if (!isReading(call.method)) refuseReadOnly(project);
    return { caller, project, merge_request };
  },
});

const readerAs = (missing?: string): Access<Granted<Caller>> => ({
  rule: 'merge_request:reader',
  async check(call) {
    if (!call.caller) throw unauthorized();
    return { ...(await visibleAs(missing).check(call)), caller: call.caller };
  },
});

/** Grants the merge request in the path to everyone who may read it; changes require a signed-in caller. */
export const mergeRequestVisible = visibleAs();
/** The same for signed-in callers. */
export const mergeRequestReader = readerAs();

/** Whether a caller who may read a merge request may update it: Developers and above, its author, its assignees. */
export const mayUpdateMergeRequest = ({ access_level, is_own }: { access_level: number; is_own: boolean }): boolean =>
  access_level >= levels.developer || is_own;

/** Grants the merge request in the path to callers who may update it, as `mayUpdateMergeRequest` decides. Others who may read it get 403. */
export const mergeRequestEditor: Access<Granted<Caller>> = {
  rule: 'merge_request:editor',
  async check(call) {
    const granted = await mergeRequestReader.check(call);
    const { project, merge_request } = granted;
    if (!mayUpdateMergeRequest({ access_level: project.access_level, is_own: merge_request.is_own })) throw forbidden();
    return granted;
  },
};

/** Grants the merge request in the path to members of its project who have at least `role`. Others are refused before they learn whether it exists. */
export const mergeRequestRole = (role: Exclude<Role, 'minimal' | 'guest'>): Access<Granted<Caller>> => ({
  rule: `merge_request:${role}`,
  async check(call) {
    if (!call.caller) throw unauthorized();
    const { project } = await projectVisible.check(call);
    if (project.access_level < levels[role]) throw forbidden();
    return readerAs().check(call);
  },
});

const granting = <C>(access: Access<Granted<C>>): Access<OnNoteable<C, NumberedIssuable>> => ({
  ...access,
  async check(call) {
    const { caller, project, merge_request } = await access.check(call);
    const { id, iid, discussion_locked } = merge_request;
    const locked = discussion_locked === true;
    return {
      caller,
      on: { kind: mergeRequestKind, id, iid, in: { project }, access_level: project.access_level, locked },
    };
  },
});

/** The same for the operations of nouns. */
export const mergeRequestTracker = granting(mergeRequestEditor);

const at: NoteableAddress<NumberedIssuable> = {
  path: '/projects/:id/merge_requests/:merge_request_iid',
  visible: (missing) => granting(visibleAs(missing)),
  reader: (missing) => granting(readerAs(missing)),
};

/** Merge requests as noteables. */
export const mergeRequestKind: IssuableKind = {
  name: 'merge request',
  type: 'MergeRequest',
  table: 'merge_requests',
  column: 'merge_request_id',
  place_column: 'project_id',
  places: 'projects',
  reference: 'merge_request',
  sign: '!',
  page: pagePath('/:project/-/merge_requests/:merge_request_iid'),
  assignees: 'merge_request_assignees',
  reviewers: 'merge_request_reviewers',
  labels: 'merge_request_labels',
  at,
  threads_comments: true,
  discussed_at: at,
  endpoints: (all) => [...all],
  ...mergeRequestRule,
  isReadInside: sql`(users.admin or ${isUserOfProject(levels.planner)})`,
};

export const theMergeRequest = (id: number): Issuable => ({ kind: mergeRequestKind, id });
