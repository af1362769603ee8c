/** Resolving conflicts: the target branch is merged into the source branch, with files that people have put together. */
import { projectFor } from '../../../../access/index.ts';
import {
  fetchCommit,
  mergeCommits,
  readCommit,
  repositoryOf,
  resolveBranch,
  writeCommit,
  writeTreeCommit,
} from '../../../../git/index.ts';
import { badRequest, type Caller, conflict, forbidden, notAllowed, type Services } from '../../../../http/index.ts';
import { linkObjects } from '../../../code/lfs/index.ts';
import { inTurn, mayCommitTo, moveRefs, projectRepositories, pushRefusals } from '../../../code/repository/index.ts';
import type { MergeFacts } from '../branch_queries.ts';
import { hasMarks, markedCommit } from './git.ts';

export const resolutionTexts = {
  movedText: 'One of the branches has moved since the conflicts were shown.',
  noneText: 'The branches do not conflict any more.',
  unresolvedText: 'These files still have conflicts: <paths>',
};

export interface Resolution {
  /** The heads that were shown. */
  source_head: string;
  target_head: string;
  message: string;
  /** The whole text of each file that conflicts. */
  files: readonly { path: string; content: Buffer }[];
}

/** @throws ApiError 400 for files that still conflict */
function refuseUnresolved(conflicts: readonly string[], files: Resolution['files']): void {
  const resolved = new Set(files.filter(({ content }) => !hasMarks(content.toString())).map(({ path }) => path));
  const left = conflicts.filter((path) => !resolved.has(path));
  if (left.length > 0) throw badRequest(resolutionTexts.unresolvedText.replace('<paths>', left.join(', ')));
}

/**
 * Commits the merge to the source branch.
 * @throws ApiError 400 for files that still conflict, and for what push rules refuse; 403 if the caller may not push to the source branch; 405 for a merge request that is
 * not open; 409 if a branch has moved
 */
export async function resolveConflicts(
  services: Services,
  caller: Caller,
  facts: MergeFacts,
  { source_head, target_head, message, files }: Resolution,
): Promise<void> {
  if (facts.state !== 'opened') throw notAllowed();
  const { source, source_branch, target, target_branch } = facts;
  const project = source && (await projectFor(services.db, caller, String(source.id)));
  if (!project || project.read_only || !(await mayCommitTo(services, { project, caller }, source_branch)))
    throw forbidden('Cannot push to source branch');
  const [from, into] = [repositoryOf(services, project), repositoryOf(services, target)];
  await inTurn(from, source_branch, async () => {
    const [head, onto] = await Promise.all([resolveBranch(from, source_branch), resolveBranch(into, target_branch)]);
    if (head !== source_head || onto !== target_head) throw conflict(resolutionTexts.movedText);
    if (project.id !== target.id) {
      await fetchCommit(into, from, onto);
      const link = { from_project_id: target.id, project_id: project.id, repository: from, commit_id: onto };
      await linkObjects(services.db, link);
    }
    const merge = await mergeCommits(from, { ours: head, theirs: onto });
    if (!merge.conflicts || merge.marked_tree_id === undefined) throw badRequest(resolutionTexts.noneText);
    refuseUnresolved(merge.conflicts, files);
    const person = { name: caller.name, email: caller.commit_email, date: new Date() };
    const people = { message, author: person, committer: person };
    const marked = await markedCommit(from, merge.marked_tree_id);
    const known = new Set(merge.conflicts);
    const changes = files
      .filter(({ path }) => known.has(path))
      .map(({ path, content }) => ({ op: 'move' as const, from: path, path, content }));
    const { id } = await writeCommit(from, { ...people, parent: marked, changes });
    const { tree_id } = await readCommit(from, id);
    const merged = await writeTreeCommit(from, { ...people, tree_id, parent_ids: [head, onto] });
    const update = { ref: `refs/heads/${source_branch}`, old: head, new: merged };
    const [refusal] = await pushRefusals(services, { project, caller }, [update]);
    if (refusal !== undefined) throw badRequest(refusal);
    await moveRefs(services, { kind: projectRepositories, owner: project, user_id: caller.id }, [update]);
  });
}
