/** Lists about a project: its forks and its stars. */
import { forkListPage, newForkPages } from './fork_pages.ts';
import { starrerPages } from './star_pages.ts';

export const projectListPages = [newForkPages, forkListPage, starrerPages];
