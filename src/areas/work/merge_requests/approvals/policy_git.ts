/** The approvals that security policies require of a merge request, and whose count (docs/reference/security_policies.md#merge-requests). */
import { sql } from 'kysely';
import { countsToday, levels } from '../../../../access/index.ts';
import type { Database } from '../../../../db/index.ts';
import type { Services } from '../../../../http/index.ts';
import type { ApprovalDemand } from '../../../../security_policies/index.ts';
import type { Demand } from './demand_rules.ts';
import { gatherFacts } from './policy_facts_git.ts';
import { demandsOf, neededFacts } from './policy_rules.ts';
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
 * The users whose approvals count for each demand: those named, members of named groups of the same top-level group, and members of the project with a named role.
 * @returns in the order of the demands
 */
async function eligibleFor(
  db: Database,
  merge_request_id: number,
  { project_id, barred_ids }: Pick<ApprovalTerms, 'project_id' | 'barred_ids'>,
  demands: readonly ApprovalDemand[],
): Promise<number[][]> {
  const { rows } = await sql<{ user_ids: number[] }>`
    select array(
             select users.id from users
              where users.id in (select id from users where username = any(named.names) or id = any(named.user_ids)
                                 union select user_id from namespaces owning join group_authorizations on group_id = owning.id
                                        where (owning.full_path = any(named.paths) or owning.id = any(named.group_ids)) and owning.kind = 'group'
                                          and owning.traversal_ids[1] = place.traversal_ids[1] and access_level >= ${levels.guest} and ${countsToday()}
                                 union select user_id from project_authorizations held
                                        where held.project_id = projects.id and (held.access_level = any(named.levels) or held.member_role_id = any(named.role_ids))
                                          and ${countsToday()})
                and ${countsFrom(barred_ids)} order by ${hasApprovedIt(merge_request_id)} desc, users.id limit ${sql.lit(maximumEligible)}) as user_ids
      from projects join namespaces place on place.id = projects.namespace_id,
           rows from (jsonb_to_recordset(${JSON.stringify(demands.map(namedBy))}::jsonb)
             as (names citext[], user_ids bigint[], paths citext[], group_ids bigint[], levels integer[], role_ids bigint[]))
           with ordinality named(names, user_ids, paths, group_ids, levels, role_ids, at)
     where projects.id = ${project_id} order by named.at`.execute(db);
  return rows.map(({ user_ids }) => user_ids);
}

/** The demands of policies on an open merge request, with the users whose approvals count. Facts are gathered anew each time, so none is older than the branches. */
export async function policyDemands(
  services: Pick<Services, 'db' | 'storages'>,
  merge_request_id: number,
  terms: ApprovalTerms,
): Promise<{ demand: Demand; eligible_ids: number[] }[]> {
  const { policies, state } = terms;
  if (policies.length === 0 || state !== 'opened') return [];
  const demands = demandsOf(policies, await gatherFacts(services, terms, neededFacts(policies)));
  if (demands.length === 0) return [];
  const eligible = await eligibleFor(
    services.db,
    merge_request_id,
    terms,
    demands.map(({ approvers }) => approvers),
  );
  return demands.map(({ demand }, index) => ({ demand, eligible_ids: eligible[index] ?? [] }));
}
