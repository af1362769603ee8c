/** The required and the counting approvals of a merge request (docs/reference/approvals.md#rules). */
import { type RawBuilder, sql } from 'kysely';
import { countsToday, levels, planInForce } from '../../../../access/index.ts';
import { type Database, ofAnyLength } from '../../../../db/index.ts';
import { listCommits, repositoryOf } from '../../../../git/index.ts';
import type { Services } from '../../../../http/index.ts';
import { protectsProject } from '../../../code/protected_branches/index.ts';
import { type Reached, reachedProject } from '../../../code/security_policies/index.ts';
import { ownersOfAddresses } from '../../../people/emails/index.ts';
import { ownerDemands } from './code_owner_git.ts';
import { stateOfRule } from './demand_rules.ts';
import { eligibleForPolicies, policyDemands } from './policy_git.ts';
import { type PolicyDemand, policiesAbout } from './policy_rules.ts';
import { countsFrom, hasApprovedIt, maximumEligible } from './queries.ts';
import {
  type ApprovalBasis,
  type ApprovalState,
  type ApprovalTerms,
  asksOwners,
  isOverwritten,
  rulesInEffect,
  withPolicySettings,
} from './rules.ts';
import { settingInForce } from './setting_queries.ts';

/** The most commits that are read for their committers. */
const maximumCommits = 1_000;

const judged = [
  'reset_approvals_on_push',
  'disable_overriding_approvers_per_merge_request',
  'merge_requests_author_approval',
  'merge_requests_disable_committers_approval',
  'require_password_to_approve',
] as const;

/** The project and group bots created by a user: a user who may not approve must not approve through a bot. */
const botsOf = (user_id: RawBuilder<unknown>) =>
  sql`array(select bots.id from users bots where bots.created_by_id = ${user_id} and bots.user_type = 'project_bot')`;

/** The data that determines the required approvals, with the settings that are in force. */
export async function basisOf(db: Database, merge_request_id: number): Promise<ApprovalBasis> {
  const { rows } = await sql<Omit<ApprovalBasis, 'policies'> & { reached: Reached | null }>`
    select ${planInForce} as plan, shown.state, shown.author_id, ${botsOf(sql`shown.author_id`)} as author_bot_ids, shown.target_branch, shown.project_id, projects.storage, shown.head_commit_id,
           version.start_commit_sha, version.base_commit_sha, coalesce(version.state = 'overflow', false) as is_large,
           ${sql.join(judged.map((setting) => sql`${settingInForce(setting)} as ${sql.ref(setting)}`))},
           array(select name::text from protected_branches where ${protectsProject(sql`projects.id`)}) as protections,
           array(select name::text from protected_branches where ${protectsProject(sql`projects.id`)} and code_owner_approval_required) as owner_protections,
           ${reachedProject(sql`shown.project_id`)} as reached,
           coalesce((
             select json_agg(json_build_object(
                      'id', rule.id, 'name', rule.name, 'rule_type', rule.rule_type, 'approvals_required', rule.approvals_required,
                      'section', null,
                      'is_own', rule.merge_request_id is not null, 'applies_to_all_protected_branches', rule.applies_to_all_protected_branches,
                      'branches', array(select protected_branches.name from approval_rule_protected_branches named
                                          join protected_branches on protected_branches.id = named.protected_branch_id
                                         where named.approval_rule_id = rule.id)) order by rule.id)
               from approval_rules rule where rule.project_id = projects.id or rule.merge_request_id = shown.id), '[]'::json) as rules
      from merge_requests shown join projects on projects.id = shown.project_id
           left join merge_request_versions version on version.id = shown.latest_version_id
     where shown.id = ${merge_request_id}`.execute(db);
  const { reached, ...basis } = rows[0]!;
  return withPolicySettings({ ...basis, policies: policiesAbout(reached, basis.target_branch, basis.protections) });
}

/** The authors and committers of the latest version, found by the addresses in its commits. */
async function committersOf(
  { db, storages }: Pick<Services, 'db' | 'storages'>,
  basis: ApprovalBasis,
): Promise<number[]> {
  const { head_commit_id: head, start_commit_sha: start, storage, project_id } = basis;
  if (head === null) return [];
  const repository = repositoryOf({ storages }, { id: project_id, storage });
  const commits = await listCommits(repository, {
    from: [head],
    not: start === null ? [] : [start],
    limit: maximumCommits,
  });
  const addresses = [
    ...new Set(commits.flatMap(({ author_email, committer_email }) => [author_email, committer_email])),
  ];
  return (await ownersOfAddresses(db, addresses)).map(({ user_id }) => user_id);
}

/** The authors and committers of the latest version of a merge request. */
export const committersIn = async (services: Pick<Services, 'db' | 'storages'>, id: number): Promise<number[]> =>
  committersOf(services, await basisOf(services.db, id));

async function barredFrom(services: Pick<Services, 'db' | 'storages'>, basis: ApprovalBasis): Promise<number[]> {
  if (basis.plan === 'free') return [];
  const { author_id, author_bot_ids } = basis;
  const author = basis.merge_requests_author_approval || author_id === null ? [] : [author_id, ...author_bot_ids];
  const committers = basis.merge_requests_disable_committers_approval ? await committersOf(services, basis) : [];
  return [...new Set([...author, ...(await withBots(services.db, committers))])];
}

async function withBots(db: Database, user_ids: readonly number[]): Promise<number[]> {
  if (user_ids.length === 0) return [];
  const { rows } = await sql<{ ids: number[] }>`
    select ${botsOf(sql`person.id`)} as ids from unnest(${ofAnyLength(user_ids, 'bigint[]')}) person (id)`.execute(db);
  return [...user_ids, ...rows.flatMap(({ ids }) => ids)];
}

interface People {
  approver_ids: number[];
  eligible: { id: number; user_ids: number[] }[];
  /** For each demand of policies. */
  by_policies: number[][];
}

async function peopleFor(
  db: Database,
  merge_request_id: number,
  { project_id, barred_ids }: ApprovalTerms,
  rule_ids: readonly number[],
  demanded: readonly PolicyDemand[],
): Promise<People> {
  const counts = countsFrom(barred_ids);
  const hasApproved = hasApprovedIt(merge_request_id);
  const { rows } = await sql<People>`
    select array(select users.id from merge_request_approvals join users on users.id = merge_request_approvals.user_id
                  where merge_request_id = ${merge_request_id} and ${counts} order by users.id) as approver_ids,
           coalesce((
             select json_agg(json_build_object('id', rule.id, 'user_ids', array(
                      select users.id from users
                       where users.id in (select user_id from approval_rule_users where approval_rule_id = rule.id
                                          union select user_id from approval_rule_groups named join group_authorizations using (group_id)
                                                 where named.approval_rule_id = rule.id and access_level >= ${levels.guest} and ${countsToday()})
                         and ${counts} order by ${hasApproved} desc, users.id limit ${sql.lit(maximumEligible)})))
               from unnest(${ofAnyLength(rule_ids, 'bigint[]')}) rule(id)), '[]'::json) as eligible,
           ${demanded.length > 0 ? eligibleForPolicies(merge_request_id, barred_ids, demanded) : sql`'[]'::json`} as by_policies
      from projects where projects.id = ${project_id}`.execute(db);
  return rows[0]!;
}

/** The data that determines the required approvals, with the users whose approvals do not count. */
export async function approvalTermsOf(services: Pick<Services, 'db' | 'storages'>, id: number): Promise<ApprovalTerms> {
  const basis = await basisOf(services.db, id);
  return { ...basis, barred_ids: await barredFrom(services, basis) };
}

/** The required and the given approvals of a merge request. Without Premium none are required. */
export async function approvalStateOf(services: Pick<Services, 'db' | 'storages'>, id: number): Promise<ApprovalState> {
  const terms = await approvalTermsOf(services, id);
  const rules = rulesInEffect(terms);
  const owned = asksOwners(terms) ? await ownerDemands(services, id, terms) : [];
  const demanded = await policyDemands(services, terms);
  const is_overwritten = isOverwritten(terms);
  if (rules.length + owned.length + demanded.length === 0) return { ...terms, is_overwritten, in_effect: [] };
  const ids = rules.map((rule) => rule.id);
  const { approver_ids, eligible, by_policies } = await peopleFor(services.db, id, terms, ids, demanded);
  const byRule = new Map(eligible.map((each) => [each.id, each.user_ids]));
  const in_effect = [
    ...rules.map((rule) => stateOfRule(rule, byRule.get(rule.id) ?? [], approver_ids)),
    ...owned.map(({ demand, eligible_ids }) => stateOfRule(demand, eligible_ids, approver_ids)),
    ...demanded.map(({ demand }, index) => stateOfRule(demand, by_policies[index] ?? [], approver_ids)),
  ];
  return { ...terms, is_overwritten, in_effect };
}
