/** Presents the diff between two commits, file by file. */
import { type Static, Type } from 'typebox';
import { type ChangedFile, type Environment, type Patch, patchesOf, type Repository } from '../../../../git/index.ts';
import { resource } from '../../../../http/index.ts';

export const Diff = resource('Diff', {
  diff: Type.String({ description: 'Unified diff without the header of the file' }),
  collapsed: Type.Boolean({
    description: 'Whether the diff is left out because the diffs before it reached the limit',
  }),
  too_large: Type.Boolean({ description: 'Whether the diff is left out because it is too large' }),
  new_path: Type.String(),
  old_path: Type.String(),
  a_mode: Type.String(),
  b_mode: Type.String(),
  new_file: Type.Boolean(),
  renamed_file: Type.Boolean(),
  deleted_file: Type.Boolean(),
  generated_file: Type.Boolean(),
});

/** 100 patches, the most on a page, fit into the second limit. */
const limits = { patch_bytes: 200 * 1024, total_bytes: 100 * 1024 * 1024 };
/** A reply without pagination holds all its patches in memory. */
const sharedLimits = { patch_bytes: 200 * 1024, total_bytes: 10 * 1024 * 1024 };

/** The mode `0` stands for a missing file. */
const modeOf = (mode: string) => (mode === '000000' ? '0' : mode);

/** The two header lines with the names of the file before and after, if there are hunks. */
function header({ status, old_path, path }: ChangedFile, { hunks, state }: Patch): string {
  if (hunks === '' || state === 'binary') return '';
  return `--- ${status === 'added' ? '/dev/null' : `a/${old_path}`}\n+++ ${status === 'deleted' ? '/dev/null' : `b/${path}`}\n`;
}

function present(file: ChangedFile, patch: Patch, unidiff: boolean): Static<typeof Diff> {
  return {
    diff: unidiff ? header(file, patch) + patch.hunks : patch.hunks,
    collapsed: patch.state === 'left_out',
    too_large: patch.state === 'too_large',
    new_path: file.path,
    old_path: file.old_path,
    a_mode: modeOf(file.old_mode),
    b_mode: modeOf(file.mode),
    new_file: file.status === 'added',
    renamed_file: file.status === 'renamed',
    deleted_file: file.status === 'deleted',
    generated_file: false,
  };
}

/**
 * The diffs of files.
 * @param range the two commits (the first is null if every file is new), and the environment in which git sees both
 * @param files from `changedFiles` of the same range
 * @param options.unidiff whether each diff begins with the file header lines
 * @param options.isPage whether the files are one page of at most 100, all shown with their diff
 */
export async function diffsOf(
  repository: Repository,
  range: { from: string | null; to: string; env?: Environment | undefined },
  files: readonly ChangedFile[],
  { unidiff, isPage }: { unidiff: boolean; isPage: boolean },
): Promise<Static<typeof Diff>[]> {
  const patches = await patchesOf(repository, range, files, isPage ? limits : sharedLimits);
  return files.map((file, index) => present(file, patches[index]!, unidiff));
}
