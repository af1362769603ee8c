/** The interface of service accounts to other districts. */
export { removeOrphanedServiceAccounts } from './jobs.ts';
