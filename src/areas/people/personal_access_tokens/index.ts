/** The interface of personal access tokens to other districts. */
export { createToken, issueOwnToken, issueToken, lifetimeNow, revokeToken, rotateToken } from './actions.ts';
export { NewPersonalAccessToken, newTokenInput, PersonalAccessToken, tokenFields } from './present.ts';
export { shownOnce, TokenOrder, tokenFilters, tokenOrder, tokensIn } from './queries.ts';
export { scopesFor } from './rules.ts';
