/** What other areas may use of service accounts. */
export { removeOrphanedServiceAccounts } from './jobs.ts';
