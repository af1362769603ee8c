/** Cherry-picking and reverting a commit on top of a branch, without a work tree (docs/reference/repository.md). */
import { isUtf8 } from 'node:buffer';
import type { Project } from '../../../../access/index.ts';
import {
  type Commit,
  mergeTrees,
  type OriginalTexts,
  originalTexts,
  type Repository,
  readCommit,
  repositoryOf,
  resolveBranch,
  writeTreeCommit,
} from '../../../../git/index.ts';
import { ApiError, type Caller, found, type Services } from '../../../../http/index.ts';
import { moveRefs } from '../moving/actions.ts';
import { projectRepositories } from '../owners/project_kind.ts';
import { refusePush } from '../push_checks/checks.ts';
import { inTurn } from './turn_actions.ts';

export interface Picking {
  kind: 'cherry-pick' | 'revert';
  project: Project;
  caller: Caller;
  commit: Commit;
  branch: string;
  /** Defaults to the message of the kind. */
  message?: string | undefined;
  /** Whether this is a dry run. */
  dry_run: boolean;
}

/** A commit cannot be picked: its changes conflict with the branch, or are present already. */
function refusal({ kind, dry_run }: Picking, error_code: 'conflict' | 'empty'): ApiError {
  const done = kind === 'revert' ? 'reverted' : 'cherry-picked';
  const message =
    `Sorry, we cannot ${kind} this commit automatically. This commit may already have been ${done}, ` +
    'or a more recent commit may have updated some of its content.';
  return new ApiError(400, { message, error_code, ...(dry_run ? { dry_run: 'error' } : {}) });
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
async function textsOf(repository: Repository, { kind, commit, caller, message }: Picking) {
  const committer = { name: caller.name, email: caller.commit_email, date: new Date() };
  const original = await originalTexts(repository, commit.id);
  if (kind === 'cherry-pick')
    return { author: original.author, committer, message: message ?? pickMessage(original, commit) };
  return { author: committer, committer, message: message ?? revertMessage(original, commit) };
}

const pickMessage = ({ message }: OriginalTexts, { id }: Commit): Buffer =>
  Buffer.concat([withoutBlanks(message), Buffer.from(`\n\n(cherry picked from commit ${id})`)]);

function revertMessage({ message }: OriginalTexts, { id, title }: Commit): Buffer {
  const [line] = withoutBlanks(message).toString('latin1').split('\n', 1);
  const subject = isUtf8(message) ? Buffer.from(title) : Buffer.from(line!, 'latin1');
  return Buffer.concat([Buffer.from('Revert "'), subject, Buffer.from(`"\n\nThis reverts commit ${id}`)]);
}

/** Trims white space at both ends of a text in any encoding. */
function withoutBlanks(text: Buffer): Buffer {
  const isBlank = (byte: number | undefined) => byte !== undefined && byte <= 0x20;
  let [start, end] = [0, text.length];
  while (isBlank(text[start])) start++;
  while (end > start && isBlank(text[end - 1])) end--;
  return text.subarray(start, end);
}

/**
 * Cherry-picks or reverts a commit onto a branch.
 * @returns the id of the new commit; undefined for a successful dry run
 * @throws ApiError 404 if the branch does not exist, 400 with an `error_code` if the changes conflict or are empty, and the refusals of push checks
 */
export const pickCommit = (services: Services, pick: Picking): Promise<string | undefined> =>
  inTurn(repositoryOf(services, pick.project), pick.branch, () => pickOnto(services, pick));

/** @throws RefMoved if the branch has moved meanwhile */
async function pickOnto(services: Services, pick: Picking): Promise<string | undefined> {
  const { project, caller, branch, dry_run } = pick;
  const repository = repositoryOf(services, project);
  const head = found('Branch', await resolveBranch(repository, branch));
  const tree_id = await pickedTree(repository, pick, (await readCommit(repository, head)).tree_id);
  if (dry_run) return undefined;
  const id = await writeTreeCommit(repository, {
    tree_id,
    parent_ids: [head],
    ...(await textsOf(repository, pick)),
  });
  const update = { ref: `refs/heads/${branch}`, old: head, new: id };
  await refusePush(services, { project, caller }, update);
  await moveRefs(services, { kind: projectRepositories, owner: project, user_id: caller.id }, [update]);
  return id;
}
