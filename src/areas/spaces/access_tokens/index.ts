/** What other areas may use of access tokens. */
export { removeOrphanedBots } from './jobs.ts';
