/** Addresses of lists about a project. */
import { pagePath } from '../../../foundation/addresses.ts';

export const forksPage = pagePath('/:project/-/forks');
export const newForkPage = pagePath('/:project/-/forks/new');
export const starrersPage = pagePath('/:project/-/starrers');
