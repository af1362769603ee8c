/** The view of diffs that commits, comparisons and merge requests share. */
export type { DiffLine } from './hunk_rules.ts';
export { type DiffSource, diffPieces, type FileDiff, files_per_batch, pagesOfDiffs, type Said } from './views.ts';
