/** Replies of SCIM (docs/reference/scim.md, RFC 7643). */
import type { ScimUser } from './queries.ts';
import { longestList, schemas } from './rules.ts';

export const root = '/api/scim/v2/application';

/** The states of accounts that their people can use: signing in activates a deactivated one. */
const activeStates = ['active', 'deactivated'];

/** @param url of the server */
export const presentUser = ({ uid, username, name, email, state, created_at, updated_at }: ScimUser, url: string) => ({
  schemas: [schemas.user],
  id: uid,
  externalId: uid,
  userName: username,
  name: { formatted: name },
  active: activeStates.includes(state),
  emails: [{ type: 'work', value: email, primary: true }],
  meta: {
    resourceType: 'User',
    location: `${url}${root}/Users/${encodeURIComponent(uid)}`,
    created: created_at,
    lastModified: updated_at,
  },
});

export const presentList = (Resources: readonly unknown[], totalResults: number, startIndex: number) => ({
  schemas: [schemas.list],
  totalResults,
  itemsPerPage: Resources.length,
  startIndex,
  Resources,
});

const unsupported = { supported: false };

export const providerConfig = (url: string) => ({
  schemas: [schemas.provider],
  patch: { supported: true },
  bulk: { ...unsupported, maxOperations: 0, maxPayloadSize: 0 },
  filter: { supported: true, maxResults: longestList },
  changePassword: unsupported,
  sort: unsupported,
  etag: unsupported,
  authenticationSchemes: [
    {
      type: 'oauthbearertoken',
      name: 'Bearer token',
      description: 'The token that an administrator has made for SCIM',
      primary: true,
    },
  ],
  meta: { resourceType: 'ServiceProviderConfig', location: `${url}${root}/ServiceProviderConfig` },
});

export const resourceTypes = (url: string) => [
  {
    schemas: [schemas.resourceType],
    id: 'User',
    name: 'User',
    endpoint: '/Users',
    description: 'An account',
    schema: schemas.user,
    meta: { resourceType: 'ResourceType', location: `${url}${root}/ResourceTypes/User` },
  },
];

const attribute = (name: string, description: string, others: object = {}) => ({
  ...{ name, type: 'string', multiValued: false, description, required: true, caseExact: false },
  ...{ mutability: 'immutable', returned: 'default', uniqueness: 'none' },
  ...others,
});

export const schemaList = (url: string) => [
  {
    id: schemas.user,
    name: 'User',
    description: 'An account',
    attributes: [
      attribute('externalId', 'The uid of the person at the provider', {
        ...{ caseExact: true, mutability: 'readWrite', uniqueness: 'server' },
      }),
      attribute('userName', 'The username', { uniqueness: 'server' }),
      attribute('name', 'The name of the person', {
        type: 'complex',
        subAttributes: [attribute('formatted', 'The whole name')],
      }),
      attribute('active', 'Whether the account can be used', {
        ...{ type: 'boolean', required: false, mutability: 'readWrite' },
      }),
      attribute('emails', 'The email address', {
        ...{ type: 'complex', multiValued: true, uniqueness: 'server' },
        subAttributes: [attribute('value', 'The address', { uniqueness: 'server' })],
      }),
    ],
    meta: { resourceType: 'Schema', location: `${url}${root}/Schemas/${schemas.user}` },
  },
];
