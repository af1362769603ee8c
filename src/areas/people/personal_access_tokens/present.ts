/** How personal access tokens appear in responses. Their values are shown once, when they are created. */
import { Type } from 'typebox';
import { tokenScopes } from '../../../access/index.ts';
import { CommaList, DateOnly, Id, nullable, optional, resource, Timestamp } from '../../../http/index.ts';

export const tokenFields = {
  id: Id,
  name: Type.String(),
  revoked: Type.Boolean(),
  created_at: Timestamp,
  description: nullable(Type.String()),
  scopes: Type.Array(Type.String()),
  user_id: Id,
  last_used_at: nullable(Timestamp),
  active: Type.Boolean(),
  expires_at: nullable(DateOnly),
};

export const PersonalAccessToken = resource('PersonalAccessToken', tokenFields);
export const PersonalAccessTokenDetails = resource('PersonalAccessTokenDetails', {
  ...tokenFields,
  last_used_ips: Type.Array(Type.String()),
});
export const NewPersonalAccessToken = resource('NewPersonalAccessToken', { ...tokenFields, token: Type.String() });

/** Parameters of a new token. */
export const newTokenInput = {
  name: Type.String(),
  description: optional(nullable(Type.String())),
  expires_at: optional(DateOnly),
  scopes: CommaList(Type.Enum([...tokenScopes])),
};
