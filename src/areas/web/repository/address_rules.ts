/** The addresses of the pages of a repository that only pages hand out. */
import { pagePath } from '../../../foundation/addresses.ts';

export const rawPage = pagePath('/:project/-/raw/:ref/:path');
export const commitsPage = pagePath('/:project/-/commits/:ref');
export const tagPage = pagePath('/:project/-/tags/:name');
export const branchesPage = pagePath('/:project/-/branches');
export const tagsPage = pagePath('/:project/-/tags');
export const newComparisonPage = pagePath('/:project/-/compare');

/** A folder, or the top of a ref if the path is empty. */
export const joined = (ref: string, path: string): string => (path === '' ? ref : `${ref}/${path}`);
