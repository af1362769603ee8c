/** The interface of OAuth tokens to other districts. */
export { oauthDoorway } from './http.ts';
export { deleteOldOauthTokens } from './jobs.ts';
