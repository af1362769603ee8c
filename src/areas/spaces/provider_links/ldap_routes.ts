/** Links of groups with groups of directories (docs/reference/group_links.md#links-with-providers). */
import { sql } from 'kysely';
import { Type } from 'typebox';
import { GroupLevel } from '../../../access/index.ts';
import {
  accepted,
  badParams,
  del,
  exactlyOneOf,
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
import { ldap } from '../../../identity_providers/index.ts';
import { paginate, paging } from '../../../lists/index.ts';
import { RoleId } from '../member_roles/queries.ts';
import { directoryLinker, owner } from './access.ts';
import { addLdapLink, removeLdapLinks } from './actions.ts';
import { syncLinkedDirectory } from './jobs.ts';
import { providerReasons } from './rules.ts';

const LdapGroupLink = resource('LdapGroupLink', {
  cn: nullable(Type.String()),
  group_access: Type.Integer(),
  provider: Type.String(),
  filter: nullable(Type.String()),
  member_role_id: nullable(Id),
});

const base = '/groups/:id/ldap_group_links';
const Provider = Type.String({ description: 'Name of a directory in the file of providers', maxLength: 40 });
const cn = Type.String({ description: 'cn of a group of the directory', minLength: 1, maxLength: 255 });
const filter = Type.String({ description: 'Filter that people of the directory pass', minLength: 1, maxLength: 500 });
const names = { cn: optional(cn), filter: optional(filter) };
const gone = { 404: '404 LDAP Group Link Not Found' };

export const ldapGroupLinkRoutes = [
  get(base, {
    operation: 'listLdapGroupLinks',
    summary: 'List the links of a group with groups of directories',
    access: owner,
    plan: 'premium',
    input: paging,
    returns: pageOf(LdapGroupLink),
    handle: async ({ db, group, input }) => {
      const query = db
        .selectFrom('ldap_group_links')
        .select(['id', 'cn', 'access_level as group_access', 'provider', 'filter', 'member_role_id'])
        .where('group_id', '=', group.id)
        .orderBy('id');
      return paginate(db, query, input);
    },
  }),
  post(base, {
    operation: 'createLdapGroupLink',
    summary: 'Link a group with a group of a directory, whose people become members',
    access: directoryLinker,
    plan: 'premium',
    input: {
      provider: Provider,
      ...names,
      group_access: GroupLevel(),
      member_role_id: RoleId(),
    },
    rules: [exactlyOneOf('cn', 'filter')],
    returns: one(LdapGroupLink),
    refusals: { 400: ['<parameter>: <reason>', 'filter is invalid'] },
    handle: async ({ change, sign_in, input }) => {
      const { provider, group_access, member_role_id = null } = input;
      const { cn = null, filter = null } = input;
      const reasons = providerReasons('ldap', provider, sign_in.providers);
      if (reasons.length > 0) throw invalid({ provider: reasons });
      if (filter !== null && !(await ldap()).isFilter(filter)) throw badParams('filter is invalid');
      const link = { provider, cn, filter, member_role_id };
      await change((tx, { caller, group }) =>
        addLdapLink(tx, { ...group, id: caller.id }, { ...link, group_id: group.id, access_level: group_access }),
      );
      return { ...link, group_access };
    },
  }),
  del(base, {
    operation: 'deleteLdapGroupLink',
    summary: 'Remove a link of a group with a group of a directory',
    access: directoryLinker,
    plan: 'premium',
    input: { provider: Provider, ...names },
    rules: [exactlyOneOf('cn', 'filter')],
    returns: nothing,
    refusals: gone,
    handle: ({ change, input }) => change((tx, { group }) => removeLdapLinks(tx, { ...input, group_id: group.id })),
  }),
  del(`${base}/:cn`, {
    operation: 'deleteLdapGroupLinksByCn',
    summary: 'Remove the links of a group with all groups of directories that have a cn',
    deprecated: true,
    description: 'Use the parameters `provider` and `cn` instead.',
    access: directoryLinker,
    plan: 'premium',
    input: { cn },
    returns: nothing,
    refusals: gone,
    handle: ({ change, input: { cn } }) => change((tx, { group }) => removeLdapLinks(tx, { cn, group_id: group.id })),
  }),
  del(`${base}/:provider/:cn`, {
    operation: 'deleteLdapGroupLinkByCn',
    summary: 'Remove a link of a group with the group of a directory that has a cn',
    deprecated: true,
    description: 'Use the parameters `provider` and `cn` instead.',
    access: directoryLinker,
    plan: 'premium',
    input: { provider: Provider, cn },
    returns: nothing,
    refusals: gone,
    handle: ({ change, input: { provider, cn } }) =>
      change((tx, { group }) => removeLdapLinks(tx, { provider, cn, group_id: group.id })),
  }),
  post('/groups/:id/ldap_sync', {
    operation: 'syncLdapGroup',
    summary: 'Ask the directories of the links of a group about their people',
    access: owner,
    plan: 'premium',
    returns: accepted,
    handle: async ({ db, group }) => {
      const { rows } = await sql<{ provider: string }>`
        select distinct provider from ldap_group_links where group_id = ${group.id}`.execute(db);
      // However many ask, a directory answers one question after the other.
      await db.transaction().execute(async (tx) => {
        for (const { provider } of rows)
          await syncLinkedDirectory.enqueue(
            tx,
            { provider },
            { key: `sync_directory:${provider}`, queue: 'directories' },
          );
      });
    },
  }),
];
