/** Who signs people in besides their passwords here: the file that names them, and the protocols that they speak. */
export { ProviderError, type Stated, type Surroundings } from './definition.ts';
export { noSignInFile, readSignInFile, type SignInFile } from './file.ts';
export { type LdapProvider, memberSets, type OidcProvider, type Provider } from './members.ts';
export { beginOidc, endOidc, type OidcRound, originsOfOidc } from './oidc.ts';
