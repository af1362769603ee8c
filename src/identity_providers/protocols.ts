/** The protocols, loaded when a provider first needs one: a server without providers needs none of their libraries. */
export const ldap = () => import('./ldap.ts');
export const oidc = () => import('./oidc.ts');
export const samlLogouts = () => import('./saml_logout.ts');
export const saml = () => import('./saml.ts');
