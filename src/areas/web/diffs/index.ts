/** The view of diffs that commits, comparisons and merge requests share. */
export { type DiffSource, diffPieces, pagesOfDiffs } from './views.ts';
