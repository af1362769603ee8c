/** Who signs people in besides their passwords here: the file that names them, and the protocols that they speak. */
export { ProviderError, type Stated, type Surroundings } from './definition.ts';
export { noSignInFile, readSignInFile, type SignInFile } from './file.ts';
export { type LdapProvider, memberSets, type OidcProvider, type Provider, type SamlProvider } from './members.ts';
export type { OidcRound } from './oidc.ts';
export { ldap, oidc, saml, samlLogouts } from './protocols.ts';
export type { SamlRound } from './saml.ts';
