/** Cherry-picking and reverting a commit on top of a branch, without a work tree (docs/reference/repository.md). */
import type { Project } from '../../../access/index.ts';
import {
  type Commit,
  mergeTrees,
  type Repository,
  readCommit,
  repositoryOf,
  resolveBranch,
  writeTreeCommit,
} from '../../../git/index.ts';
import { ApiError, type Caller, found, type Services } from '../../../http/index.ts';
import { moveRefs } from './actions.ts';
import { refusePush } from './push_check_rules.ts';
import { inTurn } from './turn_actions.ts';

export interface Picking {
  kind: 'cherry-pick' | 'revert';
  project: Project;
  caller: Caller;
  commit: Commit;
  branch: string;
  /** By default what the kind says. */
  message?: string | undefined;
  /** Whether this is a dry run. */
  dry_run: boolean;
}

/** A commit cannot be picked: its changes conflict with the branch, or are there already. */
function refusal({ kind, dry_run }: Picking, error_code: 'conflict' | 'empty'): ApiError {
  const done = kind === 'revert' ? 'reverted' : 'cherry-picked';
  const message =
    `Sorry, we cannot ${kind} this commit automatically. This commit may already have been ${done}, ` +
    'or a more recent commit may have updated some of its content.';
  return new ApiError(400, { message, error_code, ...(dry_run ? { dry_run: 'error' } : {}) });
}

function messageOf({ kind, commit, message }: Picking): string {
  if (message) return message;
  return kind === 'revert'
    ? `Revert "${commit.title}"\n\nThis reverts commit ${commit.id}`
    : `${commit.message.trimEnd()}\n\n(cherry picked from commit ${commit.id})`;
}

/** The tree of the branch with the commit picked or reverted; for a merge, its changes relative to the first parent. */
async function pickedTree(repository: Repository, pick: Picking, ours: string): Promise<string> {
  const { kind, commit } = pick;
  const [parent] = commit.parent_ids;
  const before = parent === undefined ? null : (await readCommit(repository, parent)).tree_id;
  const merged = await mergeTrees(
    repository,
    kind === 'revert' ? { base: commit.tree_id, ours, theirs: before } : { base: before, ours, theirs: commit.tree_id },
  );
  if (merged === undefined) throw refusal(pick, 'conflict');
  if (merged === ours) throw refusal(pick, 'empty');
  return merged;
}

/** A cherry-pick keeps the author of the commit; the author of a revert is the caller. */
function peopleOf({ kind, commit, caller }: Picking) {
  const committer = { name: caller.name, email: caller.commit_email, date: new Date() };
  const first = { name: commit.author_name, email: commit.author_email, date: new Date(commit.authored_date) };
  return { committer, author: kind === 'revert' ? committer : first };
}

/**
 * Cherry-picks or reverts a commit onto a branch.
 * @returns the id of the new commit; undefined for a successful dry run
 * @throws ApiError 404 when there is no such branch, 400 with an `error_code` when the changes do not fit or change nothing, and as the rules of pushes say
 */
export const pickCommit = (services: Services, pick: Picking): Promise<string | undefined> =>
  inTurn(repositoryOf(services, pick.project), pick.branch, () => pickOnto(services, pick));

/** @throws RefMoved when the branch has moved in the meantime */
async function pickOnto(services: Services, pick: Picking): Promise<string | undefined> {
  const { project, caller, branch, dry_run } = pick;
  const repository = repositoryOf(services, project);
  const head = found('Branch', await resolveBranch(repository, branch));
  const tree_id = await pickedTree(repository, pick, (await readCommit(repository, head)).tree_id);
  if (dry_run) return undefined;
  const id = await writeTreeCommit(repository, {
    tree_id,
    parent_ids: [head],
    message: messageOf(pick),
    ...peopleOf(pick),
  });
  const update = { ref: `refs/heads/${branch}`, old: head, new: id };
  await refusePush(services, { project, caller }, update);
  await moveRefs(services, { project, user_id: caller.id }, [update]);
  return id;
}
