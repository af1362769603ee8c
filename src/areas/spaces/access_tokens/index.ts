/** The interface of access tokens to other districts. */
export { accessTokenEvent, removeOrphanedBots, sampleToken, tellOfExpiringTokens } from './jobs.ts';
