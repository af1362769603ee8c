/** Adding and removing links of groups with providers (docs/reference/group_links.md#links-with-providers). */
import { type RawBuilder, sql } from 'kysely';
import { currentPlan } from '../../../access/index.ts';
import { type Database, isUniqueViolation, ofAnyLength } from '../../../db/index.ts';
import { invalid, notFound, reaches, unprocessable } from '../../../http/index.ts';
import { settleLinked } from '../members/linked_actions.ts';
import { sourceOf } from '../members/queries.ts';
import { checkRole } from '../members/role_checks.ts';
import { type Actor, levelReasons } from '../members/rules.ts';
import { mostFilters, mostLinks, taken, tooMany } from './rules.ts';

interface Grants {
  group_id: number;
  access_level: number;
  member_role_id: number | null;
}

export interface NewLdapLink extends Grants {
  provider: string;
  cn: string | null;
  filter: string | null;
}

export interface NewSamlLink extends Grants {
  provider: string | null;
  name: string;
}

/**
 * Refuses a level or a custom role that members of the group cannot have.
 * @param parameter the name of the level in the request
 * @throws ApiError 400, 403
 */
async function checkGrant(tx: Database, actor: Actor, grant: Grants, parameter: string): Promise<void> {
  const source = await sourceOf(tx, { group_id: grant.group_id });
  const withMinimal = reaches(await currentPlan(tx), 'premium');
  const reasons = levelReasons(source, grant.access_level, undefined, withMinimal);
  if (reasons.length > 0) throw invalid({ [parameter]: reasons });
  await checkRole(tx, source, actor, grant);
}

async function refuseMore(tx: Database, count: RawBuilder<unknown>, most: number, parameter: string): Promise<void> {
  const { rows } = await sql<{ count: number }>`${count}`.execute(tx);
  if (rows[0]!.count >= most) throw invalid({ [parameter]: [tooMany] });
}

/** Adds the row of a link. @throws ApiError 400 for one that is there */
const added = <T>(parameter: string, adding: Promise<T>): Promise<T> =>
  adding.catch((error: unknown) => {
    throw isUniqueViolation(error) ? invalid({ [parameter]: [taken] }) : error;
  });

/**
 * Links a group with a group of a directory.
 * @param tx a transaction that has locked the tree
 * @throws ApiError 400, 403
 */
export async function addLdapLink(tx: Database, actor: Actor, link: NewLdapLink): Promise<void> {
  await checkGrant(tx, actor, link, 'group_access');
  const own = sql`from ldap_group_links where group_id = ${link.group_id}`;
  const parameter = link.cn === null ? 'filter' : 'cn';
  await refuseMore(tx, sql`select count(*)::integer as count ${own}`, mostLinks, parameter);
  if (link.filter !== null)
    await refuseMore(tx, sql`select count(filter)::integer as count ${own}`, mostFilters, parameter);
  const row = { ...link, created_by_id: actor.id };
  await added(parameter, tx.insertInto('ldap_group_links').values(row).execute());
}

/**
 * Links a group with a group that providers state.
 * @param tx a transaction that has locked the tree
 * @throws ApiError 400, 403
 */
export async function addSamlLink(tx: Database, actor: Actor, link: NewSamlLink): Promise<void> {
  await checkGrant(tx, actor, link, 'access_level');
  const own = sql`select count(*)::integer as count from saml_group_links where group_id = ${link.group_id}`;
  await refuseMore(tx, own, mostLinks, 'saml_group_name');
  const row = { ...link, created_by_id: actor.id };
  await added('saml_group_name', tx.insertInto('saml_group_links').values(row).execute());
}

/** Deletes links, and takes away what they gave. */
async function endLinks(
  tx: Database,
  kind: 'ldap_group_link' | 'saml_group_link',
  group_id: number,
  ids: readonly number[],
): Promise<void> {
  const { rows } = await sql<{ user_id: number }>`
    select distinct user_id from linked_members where ${sql.ref(`${kind}_id`)} = any(${ofAnyLength(ids, 'bigint[]')})`.execute(
    tx,
  );
  await sql`delete from ${sql.table(`${kind}s`)} where id = any(${ofAnyLength(ids, 'bigint[]')})`.execute(tx);
  await settleLinked(
    tx,
    group_id,
    rows.map(({ user_id }) => user_id),
  );
}

/** Which links with directories are meant. */
export interface NamedLdapLinks {
  group_id: number;
  provider?: string | undefined;
  cn?: string | undefined;
  filter?: string | undefined;
}

/**
 * Removes links with directories.
 * @param tx a transaction that has locked the tree
 * @throws ApiError 404 without one
 */
export async function removeLdapLinks(tx: Database, named: NamedLdapLinks): Promise<void> {
  const given = Object.entries(named).filter(([, value]) => value !== undefined);
  const which = sql.join(
    given.map(([column, value]) => sql`${sql.ref(column)} = ${value}`),
    sql` and `,
  );
  const { rows } = await sql<{ id: number }>`select id from ldap_group_links where ${which}`.execute(tx);
  if (rows.length === 0) throw notFound('LDAP Group Link');
  await endLinks(
    tx,
    'ldap_group_link',
    named.group_id,
    rows.map(({ id }) => id),
  );
}

/** Which link with a group that providers state is meant. */
export interface NamedSamlLink {
  group_id: number;
  name: string;
  /** Omitted: whichever there is; empty: the link with any provider. */
  provider?: string | undefined;
}

export const severalProviders = 'Several providers are linked with this name. Name the provider.';

/**
 * The one link with a name.
 * @throws ApiError 404, 422 if several providers have the name and none is given
 */
export async function samlLinkNamed(db: Database, { group_id, name, provider }: NamedSamlLink) {
  const rows = await db
    .selectFrom('saml_group_links')
    .select(['id', 'name', 'access_level', 'member_role_id', 'provider'])
    .where('group_id', '=', group_id)
    .where('name', '=', name)
    .$if(provider !== undefined, (query) => query.where('provider', 'is not distinct from', provider || null))
    .orderBy('id')
    .execute();
  const [link, ...more] = rows;
  if (!link) throw notFound('SAML Group Link');
  if (more.length > 0) throw unprocessable(severalProviders);
  return link;
}

/**
 * Removes a link with a group that providers state.
 * @param tx a transaction that has locked the tree
 * @throws ApiError 404, 422
 */
export async function removeSamlLink(tx: Database, named: NamedSamlLink): Promise<void> {
  const { id } = await samlLinkNamed(tx, named);
  await endLinks(tx, 'saml_group_link', named.group_id, [id]);
}
