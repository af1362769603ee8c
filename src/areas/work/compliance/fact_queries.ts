/** What controls of compliance frameworks ask about projects (docs/reference/compliance_frameworks.md#controls), for many projects in one statement. */
import { sql } from 'kysely';
import { severities } from '../../../advisories/index.ts';
import { type Database, ofAnyLength } from '../../../db/index.ts';
import { isAbout } from '../../../foundation/wildcards.ts';
import type { ProjectFacts } from '../../code/compliance_frameworks/index.ts';
import { protectsProject } from '../../code/protected_branches/index.ts';
import { isForBranch } from '../merge_requests/approvals/rules.ts';
import { settingInForce } from '../merge_requests/approvals/setting_queries.ts';

interface Row extends Omit<ProjectFacts, 'is_protected' | 'allows_force_push' | 'approvals_required'> {
  id: number;
  protections: { name: string; allow_force_push: boolean }[];
  rules: { approvals_required: number; applies_to_all_protected_branches: boolean; branches: string[] }[];
}

const pushRule = (column: string) =>
  sql`coalesce((select ${sql.ref(column)} from push_rules where push_rules.project_id = projects.id), false)`;

/** A protection of a name wins over patterns, and the strictest of several wins. */
function factsIn({ protections, rules, ...facts }: Row): ProjectFacts {
  const own = protections.filter(({ name }) => isAbout(name, facts.default_branch));
  const names = protections.map(({ name }) => name);
  const required = rules
    .filter((rule) => isForBranch(rule, names, facts.default_branch))
    .map(({ approvals_required }) => approvals_required);
  return {
    ...facts,
    is_protected: own.length > 0,
    allows_force_push: own.every(({ allow_force_push }) => allow_force_push),
    approvals_required: Math.max(0, ...required),
  };
}

/** The facts of projects, by id. */
export async function factsOf(db: Database, project_ids: readonly number[]): Promise<Map<number, ProjectFacts>> {
  if (project_ids.length === 0) return new Map();
  const { rows } = await sql<Row>`
    select projects.id, default_branch, visibility, only_allow_merge_if_pipeline_succeeds as needs_pipeline,
           coalesce((select json_agg(json_build_object('name', name, 'allow_force_push', allow_force_push))
                       from protected_branches where ${protectsProject(sql`projects.id`)}), '[]') as protections,
           coalesce((select json_agg(json_build_object('approvals_required', rule.approvals_required,
                              'applies_to_all_protected_branches', rule.applies_to_all_protected_branches,
                              'branches', array(select protected_branches.name from approval_rule_protected_branches named
                                                  join protected_branches on protected_branches.id = named.protected_branch_id
                                                 where named.approval_rule_id = rule.id)))
                       from approval_rules rule where rule.project_id = projects.id), '[]') as rules,
           ${settingInForce('merge_requests_author_approval')} as authors_approve,
           not ${settingInForce('merge_requests_disable_committers_approval')} as committers_approve,
           ${settingInForce('reset_approvals_on_push')} as resets_approvals,
           ${pushRule('prevent_secrets')} as prevents_secrets, ${pushRule('reject_unsigned_commits')} as rejects_unsigned,
           (select count(*)::integer from vulnerabilities
             where vulnerabilities.project_id = projects.id and state = 'detected' and is_present and severity = ${severities.indexOf('critical')}) as open_critical,
           exists (select from dependency_files where dependency_files.project_id = projects.id and error is null) as has_dependencies,
           exists (select from error_tracking_settings where error_tracking_settings.project_id = projects.id and active) as tracks_errors
      from projects where projects.id = any(${ofAnyLength(project_ids, 'bigint[]')})`.execute(db);
  return new Map(rows.map((row) => [row.id, factsIn(row)]));
}
