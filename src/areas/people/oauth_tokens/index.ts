/** What others may use of OAuth tokens. */
export { oauthDoorway } from './http.ts';
export { deleteOldOauthTokens } from './jobs.ts';
