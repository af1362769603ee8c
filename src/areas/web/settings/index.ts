/** What users set for themselves: their keys and tokens. */
export { sshKeyRedirect, sshKeysPage } from './key_pages.ts';
export { tokenRedirect, tokensPage } from './token_pages.ts';
