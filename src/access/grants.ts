/**
 * Removes users and groups that no longer belong to a project or group from its rules (docs/reference/members.md#what-ends-with-a-membership). It runs after each
 * change of authorizations in the same transaction, so that a user who returns later regains none of the old grants.
 */
import { type Kysely, type RawBuilder, sql } from 'kysely';
import { type DB, ofAnyLength } from '../db/index.ts';
import { countsToday } from './expiry.ts';
import { isGroupOfGroup, isGroupOfProject } from './grantees.ts';
import { levels } from './levels.ts';

/** A group with everything below it, or one project. */
type Place = { group_id: number } | { project_id: number };

/** The columns that name users or groups, and the place of the rule that each row belongs to. */
interface Naming {
  table: string;
  /** The rules, as rows of `rule` with `project_id` and `group_id`. */
  rules: RawBuilder<unknown>;
  key: string;
}

const branches: Naming = {
  table: 'protected_branch_access_levels',
  rules: sql`protected_branches rule`,
  key: 'protected_branch_id',
};
const environments: Naming = {
  table: 'protected_environment_rules',
  rules: sql`protected_environments rule`,
  key: 'protected_environment_id',
};
/** Merged merge requests keep the rules that applied when they were merged. */
const approvals = {
  rules: sql`(select approval_rules.id, coalesce(approval_rules.project_id, merge_requests.project_id) as project_id, null::bigint as group_id
                from approval_rules left join merge_requests on merge_requests.id = approval_rules.merge_request_id
               where merge_requests.state is distinct from 'merged') rule`,
  key: 'approval_rule_id',
};

const isMember = sql`(
  exists (select from project_authorizations held where held.user_id = entry.user_id and held.project_id = rule.project_id and ${countsToday('held')})
  or exists (select from group_authorizations held where held.user_id = entry.user_id and held.group_id = rule.group_id and ${countsToday('held')}))`;
const isKnownGroup = sql`(${isGroupOfProject(sql`entry.group_id`, sql`rule.project_id`)} or ${isGroupOfGroup(sql`entry.group_id`, sql`rule.group_id`)})`;

/** A predicate on rules: they belong to these places. */
function isInside(places: readonly Place[]): RawBuilder<unknown> {
  const groups = places.flatMap((place) => ('group_id' in place ? place.group_id : []));
  const projects = places.flatMap((place) => ('project_id' in place ? place.project_id : []));
  const below = sql`select id from namespaces where traversal_ids && ${ofAnyLength(groups, 'bigint[]')}`;
  return sql`(rule.project_id = any(${ofAnyLength(projects, 'bigint[]')})
    or rule.group_id in (${below}) or rule.project_id in (select id from projects where namespace_id in (${below})))`;
}

const ended = ({ table, rules, key }: Naming, which: RawBuilder<unknown>) => sql`
  delete from ${sql.table(table)} entry using ${rules} where rule.id = ${sql.ref(`entry.${key}`)} and ${which}`;

/** Deletes the matching rows. If a deployment waits for the approval of a removed user, the Maintainers take their place; otherwise nobody could approve it. */
async function end(tx: Kysely<DB>, column: 'user_id' | 'group_id', which: RawBuilder<unknown>): Promise<void> {
  const table = column === 'user_id' ? 'approval_rule_users' : 'approval_rule_groups';
  await sql`
    with branches as (${ended(branches, which)}), approvals as (${ended({ ...approvals, table }, which)}),
         environments as (${ended(environments, which)} returning purpose, protected_environment_id, required_approvals)
    insert into protected_environment_rules as known (protected_environment_id, purpose, access_level, required_approvals)
    select protected_environment_id, purpose, ${sql.lit(levels.maintainer)}, max(required_approvals) from environments where purpose = 'approve'
     group by protected_environment_id, purpose
    on conflict on constraint protected_environment_rules_key
    do update set required_approvals = greatest(known.required_approvals, excluded.required_approvals)`.execute(tx);
}

/**
 * Revokes the grants of users in places where they are no longer members.
 * @param tx a transaction in which their authorizations are written
 * @param users the users to check, everywhere; left out, all users whom rules in `changed` name
 */
export async function endGrantsOfUsers(
  tx: Kysely<DB>,
  changed: readonly Place[],
  users: readonly number[] | undefined,
): Promise<void> {
  const which = users === undefined ? isInside(changed) : sql`entry.user_id = any(${ofAnyLength(users, 'bigint[]')})`;
  await end(tx, 'user_id', sql`entry.user_id is not null and ${which} and not ${isMember}`);
}

/**
 * Revokes the grants of groups in places to which they are no longer related: neither above it nor invited.
 * @param tx a transaction in which the share is deleted, or the place is at its new one
 */
export const endGrantsOfGroups = (
  tx: Kysely<DB>,
  places: readonly Place[],
  group_ids: readonly number[],
): Promise<void> =>
  end(
    tx,
    'group_id',
    sql`entry.group_id = any(${ofAnyLength(group_ids, 'bigint[]')}) and ${isInside(places)} and not ${isKnownGroup}`,
  );

/**
 * After a group or project has moved: revokes the grants in it of its former ancestors and of groups invited there, and the grants of the moved groups in the former
 * ancestors.
 * @param tx a transaction in which it is at its new place
 * @param from the namespace that it was in; undefined for the top level
 */
export async function endGrantsAfterMove(tx: Kysely<DB>, moved: Place, from: number | undefined): Promise<void> {
  if (from === undefined) return;
  const { rows } = await sql<{ id: number; top_id: number }>`
    with former as (select traversal_ids from namespaces where id = ${from})
    select unnest(traversal_ids) as id, traversal_ids[1] as top_id from former
    union
    select invited_group_id, traversal_ids[1] from former join group_links on group_links.group_id = any(traversal_ids)
    union
    select namespaces.id, former.traversal_ids[1] from former, namespaces where namespaces.traversal_ids @> ${'group_id' in moved ? [moved.group_id] : []}::bigint[]
       and ${'group_id' in moved}`.execute(tx);
  const [first] = rows;
  if (first)
    await endGrantsOfGroups(
      tx,
      [moved, { group_id: first.top_id }],
      rows.map(({ id }) => id),
    );
}
