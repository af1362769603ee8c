/** Rules of links of groups with providers (docs/reference/group_links.md#links-with-providers). Pure functions. */
import type { Provider } from '../../../identity_providers/index.ts';

/** The most links of a group of each of the two kinds. */
export const mostLinks = 100;
/** Filters among them: each is a question about each person of the directory. */
export const mostFilters = 10;
export const tooMany = 'has too many links';
export const taken = 'has already been taken';

/** Which providers links of a kind name: directories, or all others. */
const mayName = (kind: 'ldap' | 'saml', { type }: Provider): boolean => (type === 'ldap') === (kind === 'ldap');

/** Reasons against the provider of a link. @param name null: any provider */
export const providerReasons = (
  kind: 'ldap' | 'saml',
  name: string | null,
  providers: readonly Provider[],
): string[] =>
  name === null || providers.some((provider) => provider.name === name && mayName(kind, provider))
    ? []
    : ['does not exist'];
