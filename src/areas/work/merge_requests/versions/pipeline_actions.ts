/** Pipelines of merge requests: in which project they run, and what they know (docs/reference/pipelines.md#merge-requests). */
import { sql } from 'kysely';
import { levels, mayRead, mayUse, type Project, projectFor } from '../../../../access/index.ts';
import type { Database } from '../../../../db/index.ts';
import { mergeRequestRef } from '../../../../git/index.ts';
import type { Caller, Services } from '../../../../http/index.ts';
import { type BuiltMergeRequest, openOnesOf } from '../../../ci/running/index.ts';
import { protectionFor } from '../../../code/protected_branches/index.ts';
import { approvalsOf } from '../approvals/queries.ts';
import { approvalStateOf } from '../approvals/state_git.ts';
import type { MergeFacts } from '../branch_queries.ts';

/** The most characters of a description that jobs get. */
const mostDescription = 2_700;
interface Described {
  labels: string | null;
  milestone: string | null;
  assignees: string | null;
}

async function described(db: Database, id: number): Promise<Described> {
  const { rows } = await sql<Described>`
    select (select string_agg(labels.title, ',' order by labels.title) from merge_request_labels join labels on labels.id = label_id where merge_request_id = ${id}) as labels,
           (select milestones.title from merge_requests join milestones on milestones.id = milestone_id where merge_requests.id = ${id}) as milestone,
           (select string_agg(username, ', ' order by username) from merge_request_assignees join users on users.id = user_id
             where merge_request_id = ${id}) as assignees`.execute(db);
  return rows[0]!;
}

const placeVariables = (prefix: string, url: string, { id, full_path }: { id: number; full_path: string }) => ({
  [`${prefix}_ID`]: String(id),
  [`${prefix}_PATH`]: full_path,
  [`${prefix}_URL`]: `${url}/${full_path}`,
});

/** Whether a branch is protected; undefined in a project that the caller may not see. */
async function isProtected(db: Database, caller: Caller, project_id: number, branch: string) {
  const project = await projectFor(db, caller, String(project_id));
  return project && mayRead(caller, project) && (await protectionFor(db, project, caller))(branch).is_protected;
}

/** Whether somebody has approved, and no rule asks for more. */
async function isApproved(services: Pick<Services, 'db' | 'storages'>, id: number): Promise<boolean> {
  if ((await approvalsOf(services.db, id)).length === 0) return false;
  return (await approvalStateOf(services, id)).in_effect.every(({ approvals_left }) => approvals_left === 0);
}

/** What the jobs of a merge request know of it. */
async function variablesOf(
  services: Pick<Services, 'db' | 'url' | 'storages'>,
  caller: Caller,
  facts: MergeFacts,
): Promise<Record<string, string>> {
  const { db, url } = services;
  const { id, iid, source, target, source_branch, target_branch, version } = facts;
  const [{ labels, milestone, assignees }, approved, open, ofSource, ofTarget] = await Promise.all([
    described(db, id),
    isApproved(services, id),
    source ? openOnesOf(db, source.id, source_branch) : undefined,
    source ? isProtected(db, caller, source.id, source_branch) : undefined,
    isProtected(db, caller, target.id, target_branch),
  ]);
  const given: Record<string, string | null | undefined> = {
    CI_MERGE_REQUEST_ID: String(id),
    CI_MERGE_REQUEST_IID: String(iid),
    CI_MERGE_REQUEST_TITLE: facts.title,
    CI_MERGE_REQUEST_DESCRIPTION: facts.description?.slice(0, mostDescription).toWellFormed() ?? '',
    CI_MERGE_REQUEST_DRAFT: String(facts.draft),
    CI_MERGE_REQUEST_LABELS: labels,
    CI_MERGE_REQUEST_MILESTONE: milestone,
    CI_MERGE_REQUEST_ASSIGNEES: assignees,
    CI_MERGE_REQUEST_APPROVED: approved ? 'true' : undefined,
    CI_MERGE_REQUEST_EVENT_TYPE: 'detached',
    CI_MERGE_REQUEST_SOURCE_BRANCH_NAME: source_branch,
    CI_MERGE_REQUEST_SOURCE_BRANCH_PROTECTED: ofSource?.toString(),
    CI_MERGE_REQUEST_SOURCE_BRANCH_SHA: '',
    ...(source && placeVariables('CI_MERGE_REQUEST_SOURCE_PROJECT', url, source)),
    CI_MERGE_REQUEST_TARGET_BRANCH_NAME: target_branch,
    CI_MERGE_REQUEST_TARGET_BRANCH_PROTECTED: ofTarget?.toString(),
    CI_MERGE_REQUEST_TARGET_BRANCH_SHA: '',
    ...placeVariables('CI_MERGE_REQUEST_PROJECT', url, target),
    CI_MERGE_REQUEST_DIFF_ID: version && String(version.id),
    CI_MERGE_REQUEST_DIFF_BASE_SHA: version?.base_commit_sha,
    CI_MERGE_REQUEST_REF_PATH: mergeRequestRef(iid, 'head'),
    CI_MERGE_REQUEST_SQUASH_ON_MERGE: String(facts.squash),
    CI_OPEN_MERGE_REQUESTS: open,
  };
  return Object.fromEntries(
    Object.entries(given).filter((entry): entry is [string, string] => typeof entry[1] === 'string'),
  );
}

/** A project, if the caller may run pipelines there. */
async function usableProject(db: Database, caller: Caller, id: number): Promise<Project | undefined> {
  const project = await projectFor(db, caller, String(id));
  const isUsable = project && !project.read_only && mayUse(project, 'repository') && mayUse(project, 'builds');
  return isUsable && project.access_level >= levels.developer ? project : undefined;
}

/** The source project, if the caller may run pipelines there; by themselves, pipelines of forks run in the fork. */
export const runningProject = async (
  db: Database,
  caller: Caller,
  { source }: MergeFacts,
): Promise<Project | undefined> => (source ? usableProject(db, caller, source.id) : undefined);

/** Where the pipeline runs that somebody asks for: that of a fork in the target project, if they may run it there and the project allows it. */
export async function askedProject(db: Database, caller: Caller, facts: MergeFacts): Promise<Project | undefined> {
  const { source, target } = facts;
  if (source?.id === target.id) return runningProject(db, caller, facts);
  const query = db.selectFrom('projects').select('ci_allow_fork_pipelines_to_run_in_parent_project as allows');
  const { allows } = await query.where('id', '=', target.id).executeTakeFirstOrThrow();
  return (allows && (await usableProject(db, caller, target.id))) || runningProject(db, caller, facts);
}

/** What the pipeline of a merge request is made of; undefined before its first version. */
export async function builtOf(
  services: Pick<Services, 'db' | 'url' | 'storages'>,
  caller: Caller,
  facts: MergeFacts,
): Promise<BuiltMergeRequest | undefined> {
  const { id, iid, source_branch, target_branch, source, target, version } = facts;
  return (
    (version && {
      ...{ id, iid, source_branch, target_branch, is_within: source?.id === target.id },
      ...{ head: version.head_commit_sha, base: version.base_commit_sha },
      predefined: await variablesOf(services, caller, facts),
    }) ??
    undefined
  );
}
