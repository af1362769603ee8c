/** Compares the repository of a project with the data that only projects have. */
import type { Database } from '../db/index.ts';
import type { Branch, Repository } from '../git/index.ts';
import { checkMergeRequests } from './check_merge_requests.ts';
import { checkPointers } from './check_pointers.ts';
import { checkDangling } from './check_pushes.ts';
import type { Finding } from './finding.ts';
import { wereBranchesDeleted } from './recorded_refs.ts';
import type { RepositoryRow } from './repositories.ts';

/** @param repository of the project, which is not damaged */
export async function checkProject(db: Database, row: RepositoryRow, repository: Repository): Promise<Finding[]> {
  return [...(await checkPointers(db, row, repository)), ...(await checkMergeRequests(db, row, repository))];
}

interface Found {
  /** The refs that differ from the last push. */
  lost: readonly Finding[];
  branches: readonly Branch[];
  isDamaged: boolean;
}

/** The differences from the row of a project. */
export async function projectDifferences(
  db: Database,
  row: RepositoryRow,
  repository: Repository,
  { lost, branches, isDamaged }: Found,
): Promise<Finding[]> {
  const { id, full_path, default_branch, empty_repo } = row;
  const isEmpty = branches.length === 0;
  const findings: Finding[] = [];
  if (empty_repo && !isEmpty) {
    findings.push({
      sentence: `${full_path}: the database records the repository as empty, but it has branches.`,
      repair: async () => {
        await db.updateTable('projects').set({ empty_repo: false }).where('id', '=', id).execute();
        return 'The database now records it as not empty.';
      },
    });
  }
  // No repair: the row is the only evidence that the repository was not empty.
  if (isEmpty && !empty_repo && lost.length === 0 && !(await wereBranchesDeleted(db, row)))
    findings.push({
      sentence: `${full_path}: the database records the repository as not empty, but it has no branches.`,
    });
  // A damaged repository cannot be searched.
  if (!isDamaged && (lost.length > 0 || (isEmpty && !empty_repo)))
    findings.push(...(await checkDangling(db, { id, full_path }, repository)));
  if (!isEmpty && !branches.some(({ name }) => name === default_branch))
    findings.push({
      sentence: `${full_path}: the default branch ${default_branch} does not exist. Choose another in its settings.`,
    });
  return findings;
}
