/** Pictures of the history of a repository. */
import { contributorPages } from './contributor_pages.ts';
import { networkPages } from './network_pages.ts';

export const historyGraphPages = [networkPages, contributorPages];
