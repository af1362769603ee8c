/** What other areas may use of access tokens. */
export { removeOrphanedBots, sampleToken, tellOfExpiringTokens } from './jobs.ts';
