/** Lists about a project: its forks, its stars and what happened in it. */
import { activityPage } from './activity_pages.ts';
import { forkListPage, newForkPages } from './fork_pages.ts';
import { starrerPages } from './star_pages.ts';

export const projectListPages = [newForkPages, forkListPage, starrerPages, activityPage];
