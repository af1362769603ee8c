/** What other areas may use of searching code. */
export { searchFiles } from './file_git.ts';
export { FoundBlob, presentRun, type Run, runsOf, type SearchedTree } from './present.ts';
export { codeQueryOf } from './query_rules.ts';
