/** What other areas may use of personal access tokens. */
export { createToken, type NewToken } from './actions.ts';
