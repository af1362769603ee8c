/** Addresses of repository pages that occur only in pages. */
import { pagePath } from '../../../foundation/addresses.ts';

export const rawPage = pagePath('/:project/-/raw/:ref/:path');
export const commitsPage = pagePath('/:project/-/commits/:ref');
export const tagPage = pagePath('/:project/-/tags/:name');
export const branchesPage = pagePath('/:project/-/branches');
export const tagsPage = pagePath('/:project/-/tags');
export const newComparisonPage = pagePath('/:project/-/compare');
export const blamePage = pagePath('/:project/-/blame/:ref/:path');
export const blameBeforePage = pagePath('/:project/-/blame_before/:sha/:path');
export const findFilePage = pagePath('/:project/-/find_file/:ref');
/** Leads to a path in another ref, or to the nearest folder that the ref has. */
export const switchPage = pagePath('/:project/-/switch/:word/:place');
export const forksPage = pagePath('/:project/-/forks');
export const newForkPage = pagePath('/:project/-/forks/new');
export const starrersPage = pagePath('/:project/-/starrers');
export const networkPage = pagePath('/:project/-/network/:ref');
export const contributorsPage = pagePath('/:project/-/graphs/:ref');
export const editPage = pagePath('/:project/-/edit/:ref/:path');
export const deletionPage = pagePath('/:project/-/delete/:ref/:path');
/** Below a ref, or a folder of it. */
export const newFilePage = pagePath('/:project/-/new/:place');
export const uploadPage = pagePath('/:project/-/upload/:place');
export const newFolderPage = pagePath('/:project/-/create_dir/:place');

/** The address of a folder, or of the root of a ref if the path is empty. */
export const joined = (ref: string, path: string): string => (path === '' ? ref : `${ref}/${path}`);
