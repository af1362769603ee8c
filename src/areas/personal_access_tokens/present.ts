/** How personal access tokens appear in replies. Their values are shown once, when they are made. */
import { Type } from 'typebox';
import { DateOnly, Id, nullable, resource, Timestamp } from '../../http/index.ts';

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
