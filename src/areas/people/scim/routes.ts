/** The token of SCIM (docs/reference/scim.md#the-token). */
import { Type } from 'typebox';
import { admin } from '../../../access/index.ts';
import { badRequest, del, nothing, one, post, resource } from '../../../http/index.ts';
import { renewToken } from './actions.ts';
import { root } from './present.ts';

const ScimToken = resource('ScimToken', {
  token: Type.String({ description: 'The token, which is shown only here' }),
  url: Type.String({ description: 'The address of SCIM on this server' }),
});

const unconfigured = '400 Bad request - The file of providers names no provider for SCIM';

export const scimTokenRoutes = [
  post('/application/scim_token', {
    operation: 'createScimToken',
    summary: 'Create the token of SCIM',
    description: 'The former one ends.',
    access: admin,
    returns: one(ScimToken),
    refusals: { 400: unconfigured },
    handle: async ({ db, sign_in, url }) => {
      if (sign_in.scim_provider === undefined) throw badRequest(unconfigured);
      return { token: await renewToken(db), url: `${url}${root}` };
    },
  }),
  del('/application/scim_token', {
    operation: 'deleteScimToken',
    summary: 'Revoke the token of SCIM',
    access: admin,
    returns: nothing,
    handle: async ({ db }) => {
      await db.deleteFrom('scim_tokens').execute();
    },
  }),
];
