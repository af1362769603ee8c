/** The interface of access tokens to other districts. */
export { removeOrphanedBots, sampleToken, tellOfExpiringTokens } from './jobs.ts';
