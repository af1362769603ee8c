/** Merging: creates the commits of a merge, and moves the target branch (docs/reference/merge_requests.md#merging, decision 42). */
import { callerInJob, mergeRequestKind, type Project } from '../../../../access/index.ts';
import type { Database } from '../../../../db/index.ts';
import {
  listCommits,
  mergeBase,
  type Repository,
  readCommit,
  repositoryOf,
  writeTreeCommit,
} from '../../../../git/index.ts';
import {
  type Caller,
  conflict,
  notAllowed,
  type Services,
  unauthorized,
  unprocessable,
} from '../../../../http/index.ts';
import { protectionFor } from '../../../code/protected_branches/index.ts';
import { inTurn, moveRefsToMerge, projectRepositories, pushRefusals } from '../../../code/repository/index.ts';
import { agreeingWith } from '../approvals/queries.ts';
import { factsOf, type MergeFacts } from '../branch_queries.ts';
import { closesIssues, issuesClosedBy } from '../closing/git.ts';
import { mergeMessage, reviewVariables, squashMessage, type Variables, variablesOf } from '../message_rules.ts';
import { cannotMergeText, shaText, squashes } from '../rules.ts';
import { setAutoMerge } from './auto_merge_actions.ts';
import { linkLargeFiles } from './large_file_actions.ts';
import { type Check, checkBranches, missingApproval, pipelineOf } from './status_git.ts';
import { fitBlocker, isUnderWay, pipelineBlocker, reviewBlocker, stateBlocker } from './status_rules.ts';

/** The options of a merge. Omitted members default to those of the merge request and its project. */
export interface MergeWishes {
  merge_commit_message?: string | undefined;
  squash_commit_message?: string | undefined;
  squash?: boolean | undefined;
  should_remove_source_branch?: boolean | undefined;
  /** The head of the source branch as the caller saw it. */
  sha?: string | undefined;
}

export interface MergeRequestToMerge {
  /** The target project, with the caller's level. */
  project: Project;
  caller: Caller;
  merge_request_id: number;
  wishes: MergeWishes;
  /** Whether to merge it when its commit statuses have succeeded, if they are pending. */
  auto_merge: boolean;
}

/**
 * Merges a merge request, or schedules its auto-merge. Merges into one branch are serialised; a merge that loses to a push starts again on the new head.
 * @throws ApiError 401 if the caller may not merge into the target branch, 405 if its state does not allow it, 422 if the branches do not, 409 if the head of the source branch is
 *   not `sha`
 */
export async function mergeMergeRequest(services: Services, request: MergeRequestToMerge): Promise<void> {
  const { project, caller, merge_request_id } = request;
  const { target_branch } = await factsOf(services.db, merge_request_id);
  if (!(await mayMerge(services, project, caller, target_branch))) throw unauthorized();
  await inTurn(repositoryOf(services, project), target_branch, () => attempt(services, request));
}

/** Whether the caller may merge into a branch. */
export async function mayMerge(
  services: Pick<Services, 'db'>,
  project: Project,
  caller: Caller,
  branch: string,
): Promise<boolean> {
  const { may_merge, may_push } = (await protectionFor(services.db, project, caller))(branch);
  return may_merge || may_push;
}

/** @throws RefMoved if the target branch has moved meanwhile; ApiError */
async function attempt(services: Services, request: MergeRequestToMerge): Promise<void> {
  const facts = await factsOf(services.db, request.merge_request_id);
  if (stateBlocker(facts)) throw notAllowed();
  const check = await checkBranches(services, facts, { wants_tree: true });
  const { source_head, target_head } = check;
  const pipeline = source_head === undefined ? null : await pipelineOf(services.db, facts, source_head);
  const blocker = reviewBlocker(facts) ?? (await missingApproval(services, facts, source_head));
  const waits = request.auto_merge && (isUnderWay(facts, pipeline) || blocker !== undefined);
  if (!waits && (blocker ?? pipelineBlocker(facts, pipeline))) throw notAllowed();
  if (source_head === undefined || target_head === undefined || fitBlocker(facts, check.fit))
    throw unprocessable(cannotMergeText);
  const { sha } = request.wishes;
  if (sha !== undefined && sha !== source_head) throw conflict(shaText(source_head));
  if (waits) return setAutoMerge(services.db, request, source_head);
  await mergeNow(services, request, facts, { ...check, source_head, target_head });
}

type Heads = Check & { source_head: string; target_head: string };

async function mergeNow(
  services: Services,
  request: MergeRequestToMerge,
  facts: MergeFacts,
  heads: Heads,
): Promise<void> {
  const { project, caller, wishes } = request;
  const commits = await commitsOf(services, request, facts, heads);
  const update = { ref: `refs/heads/${facts.target_branch}`, old: heads.target_head, new: commits.head };
  const [refusal] = await pushRefusals(services, { project, caller, merges: true }, [update]);
  if (refusal !== undefined) {
    await services.db.updateTable('merge_requests').set({ merge_error: refusal }).where('id', '=', facts.id).execute();
    throw unprocessable(cannotMergeText);
  }
  await linkLargeFiles(services, facts, heads.source_head);
  const { merge_commit_sha, squash_commit_sha } = commits;
  const should_remove_source_branch = wishes.should_remove_source_branch ?? facts.force_remove_source_branch;
  const outcome = { head: heads.source_head, merge_commit_sha, squash_commit_sha, should_remove_source_branch };
  const merge = { merge_request_id: facts.id, outcome };
  const check = (tx: Database) => refuseChanged(tx, services, facts, heads.source_head);
  if (
    !(await moveRefsToMerge(
      services,
      { kind: projectRepositories, owner: project, user_id: caller.id, merge },
      [update],
      check,
    ))
  )
    throw notAllowed();
}

/**
 * Refuses the merge if approvals were revoked, threads reopened or the target changed while it was prepared. Changes of these lock the merge request, as this does.
 * @throws ApiError 405
 */
async function refuseChanged(
  tx: Database,
  { storages }: Services,
  { id, target_branch }: MergeFacts,
  source_head: string,
): Promise<void> {
  await tx.selectFrom('merge_requests').select('id').where('id', '=', id).forNoKeyUpdate().execute();
  const facts = await factsOf(tx, id);
  // What approvals are needed follows from the target.
  if (facts.target_branch !== target_branch) throw notAllowed();
  if (stateBlocker(facts) ?? reviewBlocker(facts) ?? (await missingApproval({ db: tx, storages }, facts, source_head)))
    throw notAllowed();
}

interface MergeCommits {
  /** The new head of the target branch. */
  head: string;
  merge_commit_sha: string | null;
  squash_commit_sha: string | null;
}

/** The most commits read for messages. */
const maximumTold = 1_000;

async function commitsOf(
  services: Services,
  request: MergeRequestToMerge,
  facts: MergeFacts,
  { source_head, target_head, tree_id }: Heads,
): Promise<MergeCommits> {
  const { caller, wishes } = request;
  const repository = repositoryOf(services, facts.target);
  const commits = await listCommits(repository, { from: [source_head], not: [target_head], limit: maximumTold });
  const variables = await variablesFor(services, caller, facts, commits.toReversed());
  const committer = { name: caller.name, email: caller.commit_email, date: new Date() };
  const source_tree = (await readCommit(repository, source_head)).tree_id;
  const { merge_method, squash_option } = facts.target;
  const isSquashed = squashes(squash_option, wishes.squash ?? facts.squash);
  const squash_commit_sha = isSquashed
    ? await squashed(services, repository, facts, {
        parent:
          merge_method === 'merge'
            ? ((await mergeBase(repository, [source_head, target_head])) ?? target_head)
            : target_head,
        tree_id: source_tree,
        message: wishes.squash_commit_message ?? squashMessage(facts.target.squash_commit_template, variables),
        committer,
        only: commits.length === 1 ? commits[0]! : undefined,
      })
    : null;
  const tip = squash_commit_sha ?? source_head;
  if (merge_method === 'ff') return { head: tip, merge_commit_sha: null, squash_commit_sha };
  const head = await writeTreeCommit(repository, {
    tree_id: tree_id ?? source_tree,
    parent_ids: [target_head, tip],
    message: wishes.merge_commit_message ?? mergeMessage(facts.target.merge_commit_template, variables),
    author: committer,
    committer,
  });
  return { head, merge_commit_sha: head, squash_commit_sha };
}

interface Squash {
  parent: string;
  tree_id: string;
  message: string;
  committer: { name: string; email: string; date: Date };
  /** The commit, if there is only one. */
  only: { id: string; message: string; parent_ids: readonly string[] } | undefined;
}

/** A commit with the changes of all commits, by the author of the merge request. A single commit with the same message is kept as it is. */
async function squashed(
  services: Services,
  repository: Repository,
  { author_id }: MergeFacts,
  squash: Squash,
): Promise<string> {
  const { parent, tree_id, message, committer, only } = squash;
  if (only?.message.trim() === message.trim() && only.parent_ids.length === 1 && only.parent_ids[0] === parent)
    return only.id;
  const author = author_id === null ? undefined : await callerInJob(services, author_id);
  return writeTreeCommit(repository, {
    tree_id,
    parent_ids: [parent],
    message,
    author: author ? { name: author.name, email: author.commit_email, date: committer.date } : committer,
    committer,
  });
}

async function variablesFor(
  services: Services,
  caller: Caller,
  facts: MergeFacts,
  commits: Parameters<typeof variablesOf>[0],
): Promise<Variables> {
  const { iid, target, title, description, source_branch, target_branch, author_id } = facts;
  const author = author_id === null ? undefined : await callerInJob(services, author_id);
  const issues = closesIssues(facts)
    ? await issuesClosedBy(services.db, caller, target.full_path, [
        description ?? '',
        ...commits.map(({ message }) => message),
      ])
    : [];
  const names = issues.map((issue) => `${issue.project_id === target.id ? '' : issue.full_path}#${issue.iid}`);
  const nameOf = (user: Caller | undefined) => (user ? `${user.name} <${user.commit_email}>` : '');
  return {
    source_branch,
    target_branch,
    title,
    description: description ?? '',
    issues: names.length > 0 ? `Closes ${names.join(', ')}` : '',
    reference: `${target.full_path}!${iid}`,
    local_reference: `!${iid}`,
    source_project_id: String(facts.source_project_id ?? ''),
    url: services.url + mergeRequestKind.page(target.full_path, iid),
    merged_by: nameOf(caller),
    merge_request_author: nameOf(author),
    ...variablesOf(commits, title, caller.commit_email),
    ...reviewVariables(await agreeingWith(services, facts.id)),
  };
}
