/** Links of groups with groups that SAML and OpenID Connect providers state (docs/reference/group_links.md#links-with-providers). */
import { Type } from 'typebox';
import { GroupLevel } from '../../../access/index.ts';
import {
  del,
  get,
  Id,
  invalid,
  nothing,
  nullable,
  one,
  optional,
  pageOf,
  post,
  resource,
} from '../../../http/index.ts';
import { paginate, paging } from '../../../lists/index.ts';
import { RoleId } from '../member_roles/queries.ts';
import { linker, owner } from './access.ts';
import { addSamlLink, removeSamlLink, samlLinkNamed, severalProviders } from './actions.ts';
import { providerReasons } from './rules.ts';

const SamlGroupLink = resource('SamlGroupLink', {
  name: Type.String(),
  access_level: Type.Integer(),
  member_role_id: nullable(Id),
  provider: nullable(Type.String()),
});

const base = '/groups/:id/saml_group_links';
const saml_group_name = Type.String({
  description: 'Name of the group as the provider states it',
  minLength: 1,
  maxLength: 255,
});
const provider = Type.String({ description: 'Name of a provider in the file of providers', maxLength: 40 });
const named = { saml_group_name, provider: optional(provider) };
const refusals = { 404: '404 SAML Group Link Not Found', 422: severalProviders };

export const samlGroupLinkRoutes = [
  get(base, {
    operation: 'listSamlGroupLinks',
    summary: 'List the links of a group with groups that SAML and OpenID Connect providers state',
    access: owner,
    plan: 'premium',
    input: paging,
    returns: pageOf(SamlGroupLink),
    handle: async ({ db, group, input }) => {
      const query = db
        .selectFrom('saml_group_links')
        .select(['id', 'name', 'access_level', 'member_role_id', 'provider'])
        .where('group_id', '=', group.id)
        .orderBy('id');
      return paginate(db, query, input);
    },
  }),
  get(`${base}/:saml_group_name`, {
    operation: 'getSamlGroupLink',
    summary: 'Show a link of a group with a group that providers state',
    access: owner,
    plan: 'premium',
    input: named,
    returns: one(SamlGroupLink),
    refusals,
    handle: ({ db, group, input: { saml_group_name: name, provider } }) =>
      samlLinkNamed(db, { group_id: group.id, name, provider }),
  }),
  post(base, {
    operation: 'createSamlGroupLink',
    summary: 'Link a group with a group that providers state, whose people become members',
    access: linker,
    plan: 'premium',
    input: {
      saml_group_name,
      access_level: GroupLevel(),
      member_role_id: RoleId(),
      provider: optional(nullable(provider)),
    },
    returns: one(SamlGroupLink),
    refusals: { 400: '<parameter>: <reason>' },
    handle: async ({ change, sign_in, input }) => {
      const { saml_group_name: name, access_level, member_role_id = null, provider = null } = input;
      const reasons = providerReasons('saml', provider, sign_in.providers);
      if (reasons.length > 0) throw invalid({ provider: reasons });
      const link = { name, access_level, member_role_id, provider };
      await change((tx, { caller, group }) =>
        addSamlLink(tx, { ...group, id: caller.id }, { ...link, group_id: group.id }),
      );
      return link;
    },
  }),
  del(`${base}/:saml_group_name`, {
    operation: 'deleteSamlGroupLink',
    summary: 'Remove a link of a group with a group that providers state',
    access: linker,
    plan: 'premium',
    input: named,
    returns: nothing,
    refusals,
    handle: ({ change, input: { saml_group_name: name, provider } }) =>
      change((tx, { group }) => removeSamlLink(tx, { group_id: group.id, name, provider })),
  }),
];
