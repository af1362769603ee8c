/** Which branches a new merge request is about, and who is asked to review it. */
import type { Static } from 'typebox';
import { reaches } from '../../../http/index.ts';
import type { PageCall } from '../../../pages/index.ts';
import type { Branch } from '../../code/repository/index.ts';
import { ownersOfPaths } from '../../work/merge_requests/index.ts';
import type { FileDiff } from '../diffs/definition.ts';
import { pushedBranches } from '../repository/pushed_queries.ts';

type Branches = readonly Static<typeof Branch>[];

interface Offered {
  project: { id: number; default_branch?: string | undefined };
  /** The branches of the project and of the target project, the last changed first. */
  own: Branches;
  targets: Branches;
  /** Whether both are the same project. */
  is_same: boolean;
  /** What the address names. */
  wanted: { source: string | undefined; target: string | undefined };
}

/** The branch that the visitor has just pushed. */
async function pushedLast({ caller, services }: PageCall, { id, default_branch }: Offered['project']) {
  if (!caller || default_branch === undefined) return undefined;
  const [last] = await pushedBranches(services.db, { user_id: caller.id, project_id: id, default_branch });
  return last?.name;
}

/**
 * The branches that were asked for; otherwise what the visitor has just pushed, or the branch with the last change, into the default branch. They are the same
 * branch only if that was asked for.
 */
export async function branchesFor(
  call: PageCall,
  { project, own, targets, is_same, wanted }: Offered,
): Promise<{ source_branch: string | undefined; target_branch: string | undefined }> {
  const other = (branches: Branches, than: string | undefined) =>
    branches.find(({ name }) => !is_same || name !== than)?.name;
  const main = targets.find((branch) => branch.default);
  const target_branch = wanted.target ?? other(main ? [main, ...targets] : targets, wanted.source) ?? targets[0]?.name;
  if (wanted.source !== undefined) return { source_branch: wanted.source, target_branch };
  const pushed = await pushedLast(call, project);
  const isOther = pushed !== undefined && (!is_same || pushed !== target_branch);
  return { source_branch: isOther ? pushed : other(own, target_branch), target_branch };
}

/** The most people who are proposed. */
const mostReviewers = 3;

/** Those among some people who own the files of a change, without the visitor; none below Premium. */
export async function ownersAmong<Person extends { id: number }>(
  { caller, services }: PageCall,
  people: readonly Person[],
  { project_id, target_branch, diffs }: { project_id: number; target_branch: string; diffs: readonly FileDiff[] },
): Promise<readonly Person[]> {
  if (!reaches(caller?.plan ?? 'free', 'premium') || diffs.length === 0) return [];
  const paths = [...new Set(diffs.flatMap(({ old_path, new_path }) => [old_path, new_path]))];
  const ids = await ownersOfPaths(services, project_id, target_branch, paths);
  return people.filter(({ id }) => id !== caller?.id && ids.includes(id)).slice(0, mostReviewers);
}
