/** The interface of searching code to other districts. */
export { linesOf, matchIn, searchFiles } from './file_git.ts';
export { indexAgain, indexCode, indexFollower, keepCodeIndex } from './index_jobs.ts';
export { findIndexed, type IndexedFile, indexedAmong, indexState } from './index_queries.ts';
export { FoundBlob, presentRuns, type Run, runsOf, type SearchedTree } from './present.ts';
export { type CodeQuery, codeQueryOf } from './query_rules.ts';
