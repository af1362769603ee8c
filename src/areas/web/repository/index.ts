/** Pages of projects and their repositories (docs/reference/repository_pages.md). */
import type { AnyPage } from '../../../pages/index.ts';
import { archivePages, blobPages, rawPages } from './blob_pages.ts';
import { branchPages } from './branch_pages.ts';
import { commitPages, commitTextPages, defaultHistoryPage, historyPages } from './commit_pages.ts';
import { comparePages, newComparisonPages } from './compare_pages.ts';
import { findFilePages, switchPages } from './find_pages.ts';
import { projectHomePage, projectNumberPage } from './home_pages.ts';
import { tagListPage, tagPages } from './tag_pages.ts';
import { treePages } from './tree_pages.ts';

export { otherAddress } from './other_address_queries.ts';

export const repositoryPages: readonly AnyPage[] = [
  treePages,
  findFilePages,
  switchPages,
  blobPages,
  rawPages,
  archivePages,
  historyPages,
  defaultHistoryPage,
  ...commitTextPages,
  commitPages,
  comparePages,
  newComparisonPages,
  branchPages,
  tagPages,
  tagListPage,
  projectNumberPage,
  projectHomePage,
];
