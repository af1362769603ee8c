/** Finding the position of a comment in a diff (docs/reference/discussions.md#positions). */
import {
  type ChangedFile,
  changedFiles,
  type Patch,
  patchesOf,
  type Repository,
  readCommit,
} from '../../../git/index.ts';
import { codesOf, shows } from './diff_rules.ts';
import {
  completePosition,
  type GivenPosition,
  incompletePosition,
  notInDiff,
  type Position,
} from './position_rules.ts';

/** The two sides of a diff. */
export interface Sides {
  repository: Repository;
  /** Null for the empty tree. */
  from: string | null;
  to: string;
}

/** The commits in a position in a diff. */
export type Refs = Pick<Position, 'base_sha' | 'start_sha' | 'head_sha'>;

/** The files that differ between the two sides. */
export const filesIn = ({ repository, from, to }: Sides): Promise<ChangedFile[]> =>
  changedFiles(repository, { from, to, renames: true });

/** A longer diff is not shown (docs/reference/repository.md), so its lines cannot be named. */
const limits = { patch_bytes: 200 * 1024, total_bytes: 200 * 1024 };

/** The change of a file as shown in the diff. */
export async function patchOf({ repository, from, to }: Sides, file: ChangedFile): Promise<Patch> {
  const [patch] = await patchesOf(repository, { from, to }, [file], limits);
  return patch!;
}

/** The hunks of a file as shown in the diff; empty if they are too long. */
export const hunksOf = async (sides: Sides, file: ChangedFile): Promise<string> => (await patchOf(sides, file)).hunks;

/** The id that stands for the missing parent of a first commit. */
const noCommit = (like: string) => '0'.repeat(like.length);

/** The diff of a commit against its first parent, and the commits for positions in it. */
export async function diffOfCommit(repository: Repository, sha: string): Promise<{ sides: Sides; refs: Refs }> {
  const { parent_ids } = await readCommit(repository, sha);
  const from = parent_ids[0] ?? null;
  const parent = from ?? noCommit(sha);
  return { sides: { repository, from, to: sha }, refs: { base_sha: parent, start_sha: parent, head_sha: sha } };
}

/**
 * Completes the position of a comment after finding it in the diff.
 * @param refs the commits of the diff
 * @throws ApiError 400 for a line that the diff does not show, and for a position that is incomplete or belongs to
 * other commits
 */
export async function positionIn(
  { sides, refs }: { sides: Sides; refs: Refs },
  given: GivenPosition,
): Promise<Position> {
  const isOfDiff =
    given.head_sha === refs.head_sha && given.base_sha === refs.base_sha && given.start_sha === refs.start_sha;
  const { position_type, old_path, new_path, old_line, new_line, line_range } = given;
  const isText = position_type === 'text';
  if (!isOfDiff || (old_path ?? new_path) === undefined) throw incompletePosition();
  if (isText && (old_line ?? new_line) === undefined) throw incompletePosition();
  const isFile = (file: ChangedFile) =>
    (old_path === undefined || old_path === file.old_path) && (new_path === undefined || new_path === file.path);
  const file = (await filesIn(sides)).find(isFile);
  if (!file) throw isText ? notInDiff() : incompletePosition();
  if (!isText) return completePosition(given, file);
  const hunks = await hunksOf(sides, file);
  if (!shows(hunks, { old_line, new_line })) throw notInDiff();
  const codes = line_range && codesOf(file.path, hunks);
  if (
    line_range &&
    ![line_range.start, line_range.end].every((end) => end.type === 'expanded' || codes!.has(end.line_code))
  )
    throw notInDiff();
  return completePosition(given, file);
}
