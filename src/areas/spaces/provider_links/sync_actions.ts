/** Making memberships follow what providers state (docs/reference/group_links.md#memberships). */
import { type RawBuilder, sql } from 'kysely';
import { currentPlan, lockPlace } from '../../../access/index.ts';
import { type Database, repeated } from '../../../db/index.ts';
import { reaches } from '../../../http/index.ts';
import { type LdapProvider, ldap, type Provider, ProviderError } from '../../../identity_providers/index.ts';
import type { StatedPerson } from '../../../services/index.ts';
import { settleLinked } from '../members/linked_actions.ts';

/** What a provider has said of somebody. */
interface Fact {
  user_id: number;
  /** Null if it has said nothing of groups. */
  groups: readonly string[] | null;
  /** The filters that it was asked for and has answered, and those among them that the person passes. */
  answered: readonly string[];
  passed: readonly string[];
}

/** Asks a directory for the filters of links. One that does not answer says nothing of anybody. */
async function factsOf(db: Database, provider: Provider, people: readonly StatedPerson[]): Promise<Fact[]> {
  const filters = provider.type === 'ldap' ? await filtersFor(db, provider) : [];
  const facts: Fact[] = [];
  for (const { user_id, uid, groups = null } of people) {
    const asked = filters.length > 0 ? await askFor(provider as LdapProvider, uid, filters) : noFilters;
    facts.push({ user_id, groups, ...asked });
  }
  return facts;
}

const noFilters = { answered: [], passed: [] };

async function filtersFor(db: Database, { name }: LdapProvider): Promise<string[]> {
  const rows = await db
    .selectFrom('ldap_group_links')
    .select('filter')
    .distinct()
    .where('provider', '=', name)
    .where('filter', 'is not', null)
    .orderBy('filter')
    .execute();
  return rows.map(({ filter }) => filter!);
}

async function askFor(
  provider: LdapProvider,
  uid: string,
  filters: readonly string[],
): Promise<typeof noFilters | Pick<Fact, 'answered' | 'passed'>> {
  const { passedFilters } = await ldap();
  return passedFilters(provider, uid, filters).catch((error: unknown) => {
    if (error instanceof ProviderError) return noFilters;
    throw error;
  });
}

/** Rows of `user_id`, `group_id` and the two columns of links: what the provider states now, and what it had stated of what it has answered. */
function statedLinks(
  { type, name }: Provider,
  facts: readonly Fact[],
): { now: RawBuilder<unknown>; before: RawBuilder<unknown> } {
  const people = sql`
    (select given.* from json_to_recordset(${JSON.stringify(facts)}) as given(user_id bigint, groups text[], answered text[], passed text[])
       join users on users.id = given.user_id and users.state in ('active', 'deactivated')) person`;
  if (type === 'ldap')
    return {
      now: sql`
        select person.user_id, link.group_id, link.id as ldap_group_link_id, null::bigint as saml_group_link_id
          from ${people} join ldap_group_links link on link.provider = ${name}
               and (lower(link.cn) in (select lower(one) from unnest(person.groups) one) or link.filter = any(person.passed))`,
      before: sql`
        select person.user_id, linked.group_id, linked.ldap_group_link_id, null::bigint
          from ${people} join linked_members linked on linked.user_id = person.user_id and linked.provider = ${name}
          join ldap_group_links link on link.id = linked.ldap_group_link_id
         where (link.cn is not null and person.groups is not null) or link.filter = any(person.answered)`,
    };
  return {
    now: sql`
      select person.user_id, link.group_id, null::bigint as ldap_group_link_id, link.id as saml_group_link_id
        from ${people} join saml_group_links link on (link.provider is null or link.provider = ${name}) and link.name = any(person.groups)`,
    before: sql`
      select person.user_id, linked.group_id, null::bigint, linked.saml_group_link_id
        from ${people} join linked_members linked on linked.user_id = person.user_id and linked.provider = ${name}
       where linked.saml_group_link_id is not null and person.groups is not null`,
  };
}

interface Change {
  user_id: number;
  group_id: number;
  ldap_group_link_id: number | null;
  saml_group_link_id: number | null;
  is_new: boolean;
}

/** What differs from what the provider had stated. @param group_id only in this group */
async function changesIn(
  db: Database,
  provider: Provider,
  facts: readonly Fact[],
  group_id?: number,
): Promise<Change[]> {
  const { now, before } = statedLinks(provider, facts);
  const { rows } = await sql<Change>`
    with now as (${now}), before as (${before})
    select *, true as is_new from (select * from now except select * from before) added
     where ${group_id === undefined ? sql`true` : sql`group_id = ${group_id}`}
    union all
    select *, false from (select * from before except select * from now) gone
     where ${group_id === undefined ? sql`true` : sql`group_id = ${group_id}`}
    order by group_id, user_id`.execute(db);
  return rows;
}

/** Writes what a provider states in one group, and what follows for memberships. */
async function followIn(db: Database, provider: Provider, facts: readonly Fact[], group_id: number): Promise<void> {
  await repeated(db, async (tx) => {
    await lockPlace(tx, { group_id });
    const changes = await changesIn(tx, provider, facts, group_id);
    const [added, gone] = [changes.filter(({ is_new }) => is_new), changes.filter(({ is_new }) => !is_new)];
    const columns = sql`user_id bigint, group_id bigint, ldap_group_link_id bigint, saml_group_link_id bigint`;
    // An identity may be gone meanwhile.
    await sql`
      insert into linked_members (group_id, user_id, provider, ldap_group_link_id, saml_group_link_id)
      select group_id, added.user_id, ${provider.name}, ldap_group_link_id, saml_group_link_id
        from json_to_recordset(${JSON.stringify(added)}) as added(${columns})
        join user_identities identity on identity.user_id = added.user_id and identity.provider = ${provider.name}
      on conflict do nothing`.execute(tx);
    await sql`
      delete from linked_members linked using json_to_recordset(${JSON.stringify(gone)}) as gone(${columns})
       where linked.group_id = gone.group_id and linked.user_id = gone.user_id and linked.provider = ${provider.name}
         and linked.ldap_group_link_id is not distinct from gone.ldap_group_link_id
         and linked.saml_group_link_id is not distinct from gone.saml_group_link_id`.execute(tx);
    const user_ids = [...new Set(changes.map(({ user_id }) => user_id))];
    await settleLinked(tx, group_id, user_ids);
  });
}

/**
 * Gives and takes memberships by what a provider has stated of people. What it has not answered changes nothing.
 */
export async function followGroups(
  { db }: { db: Database },
  provider: Provider,
  people: readonly StatedPerson[],
): Promise<void> {
  if (!reaches(await currentPlan(db), 'premium')) return;
  const facts = await factsOf(db, provider, people);
  const changes = await changesIn(db, provider, facts);
  for (const group_id of new Set(changes.map(({ group_id }) => group_id)))
    await followIn(db, provider, facts, group_id);
}
