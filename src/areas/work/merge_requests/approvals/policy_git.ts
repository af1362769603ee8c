/** The approvals that security policies require of a merge request, and whose count (docs/reference/security_policies.md#merge-requests). */
import { type RawBuilder, sql } from 'kysely';
import { countsToday, levels } from '../../../../access/index.ts';
import type { Services } from '../../../../http/index.ts';
import type { ApprovalDemand } from '../../../../security_policies/index.ts';
import { gatherFacts } from './policy_facts_git.ts';
import { demandsOf, neededFacts, type PolicyDemand } from './policy_rules.ts';
import { countsFrom, hasApprovedIt, maximumEligible } from './queries.ts';
import type { ApprovalTerms } from './rules.ts';

/** Whom an action names, for a statement. */
const namedBy = (approvers: ApprovalDemand) => ({
  names: approvers.user_approvers,
  user_ids: approvers.user_approvers_ids,
  paths: approvers.group_approvers,
  group_ids: approvers.group_approvers_ids,
  levels: approvers.role_approvers.flatMap((role) => (typeof role === 'string' ? levels[role] : [])),
  role_ids: approvers.role_approvers.filter((role) => typeof role === 'number'),
});

/**
 * The users whose approvals count for each demand, as an expression over a row of `projects`: those named, members of named groups of the same top-level group, and members of the
 * project with a named role.
 * @param demands in whose order they come
 */
export const eligibleForPolicies = (
  merge_request_id: number,
  barred_ids: readonly number[],
  demands: readonly PolicyDemand[],
): RawBuilder<number[][]> => sql`
  coalesce((
    select json_agg(array(
             select users.id from users
              where users.id in (select id from users where username = any(named.names) or id = any(named.user_ids)
                                 union select user_id from namespaces owning join group_authorizations on group_id = owning.id
                                        where (owning.full_path = any(named.paths) or owning.id = any(named.group_ids)) and owning.kind = 'group'
                                          and owning.traversal_ids[1] = place.traversal_ids[1] and access_level >= ${levels.guest} and ${countsToday()}
                                 union select user_id from project_authorizations held
                                        where held.project_id = projects.id and (held.access_level = any(named.levels) or held.member_role_id = any(named.role_ids))
                                          and ${countsToday()})
                and ${countsFrom(barred_ids)} order by ${hasApprovedIt(merge_request_id)} desc, users.id limit ${sql.lit(maximumEligible)}) order by named.at)
      from namespaces place,
           rows from (jsonb_to_recordset(${JSON.stringify(demands.map(({ approvers }) => namedBy(approvers)))}::jsonb)
             as (names citext[], user_ids bigint[], paths citext[], group_ids bigint[], levels integer[], role_ids bigint[]))
           with ordinality named(names, user_ids, paths, group_ids, levels, role_ids, at)
     where place.id = projects.namespace_id), '[]'::json)`;

/** The demands of policies on an open merge request. Facts are gathered anew each time, so none is older than the branches. */
export async function policyDemands(
  services: Pick<Services, 'db' | 'storages'>,
  terms: ApprovalTerms,
): Promise<PolicyDemand[]> {
  const { policies, state } = terms;
  if (policies.length === 0 || state !== 'opened') return [];
  return demandsOf(policies, await gatherFacts(services, terms, neededFacts(policies)));
}
