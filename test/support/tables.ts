/** Which tables the statements of the product name, and whose tables these are (docs/architecture.md#districts). */
import { globSync, readFileSync } from 'node:fs';
import path from 'node:path';
import { SyntaxKind } from 'typescript/unstable/ast';
import { createScanner } from 'typescript/unstable/ast/scanner';
import { districts, reachable, src } from './imports.ts';

/** The tables of each district and of the folders that all districts use. `x_*` stands for all whose names begin with `x_`. */
const tablesOf: Readonly<Record<(typeof districts)[number] | 'access' | 'relations' | 'db' | 'jobs', string>> = {
  db: 'internal_ids repeated_migrations',
  jobs: 'job_workers job_totals',
  access:
    'users namespaces projects repository_sizes members member_roles group_links project_authorizations group_authorizations redirects rights_versions job_token_projects job_token_groups',
  relations: 'waiting_references',
  instance: `nodes storages plan_limits appearance appearance_pictures broadcast_messages instance application_settings request_counts licenses licensing billable_counts features feature_gates costly_files hooks hook_events unused_blobs audit_events audit_events_default audit_chains proxied_pictures id_token_keys`,
  people: `custom_attributes emails claimed_emails keys gpg_keys personal_access_tokens oauth_* service_accounts web_sessions pending_sign_ins totp_factors webauthn_credentials used_webauthn_challenges recovery_codes password_links provider_sign_ins provider_messages used_assertions saml_sessions user_identities scim_tokens user_statuses user_follows group_seats`,
  activity:
    'events resource_label_events resource_state_events resource_milestone_events resource_weight_events resource_iteration_events push_event_payloads todos subscriptions hook_deliveries notifications notification_*',
  deployments:
    'environments deployments deployment_approvals protected_environments protected_environment_rules clusters deploy_tokens deploy_key_projects freeze_periods variables feature_flags feature_flag_*',
  code: `protected_branches protected_branch_* protected_tags push_rules compliance_frameworks compliance_requirements project_compliance_frameworks security_policy_* recorded_* reference_updates unused_repositories commit_statuses job_artifacts job_test_suites pipelines bridges runners runner_managers lfs_* project_fetches snippets snippet_user_agents
    code_* remote_mirrors pull_mirrors wikis wiki_pages dependencies dependency_* license_files package_* advisories advisory_packages vulnerabilities vulnerability_state_changes vulnerability_findings`,
  spaces: `access_requests badges access_token_* declined_invitations invitations ldap_group_links linked_members member_approvals members_by_hand saml_group_links open_issue_counts project_stars repository_storage_moves topics`,
  ci: 'job_definitions job_dependencies job_dotenv_variables job_log_pieces job_logs job_runs job_variables pipeline_schedule_variables pipeline_triggers pipeline_schedules pipeline_variables resource_groups runner_projects secure_files terraform_states terraform_versions',
  planning: 'labels label_priorities milestones release_milestones iterations iteration_cadences boards board_*',
  conversation: 'notes suggestions award_emoji uploads user_mentions',
  work: `compliance_violations group_approval_settings deployment_merge_requests issues issue_* releases release_links release_evidences epics epic_* merge_requests merge_request_* approval_* error_tracking_* timelogs removed_issue_numbers due_notices saved_views`,
  migration: 'bulk_import_* bulk_imports placeholders placeholder_memberships relation_export_files relation_exports',
  geo: 'geo_*',
  web: '',
};

/** The names of all tables. */
export const allTables: ReadonlySet<string> = new Set(
  [...readFileSync(path.resolve(src, '../docs/schema.sql'), 'utf8').matchAll(/^create table (\w+)/gm)].map(
    ([, name]) => name!,
  ),
);

/** Those to whom the declaration gives a table: one, unless it is wrong. */
export const ownersOf = (table: string): string[] =>
  Object.entries(tablesOf)
    .filter(([, names]) =>
      names.split(/\s+/).some((name) => (name.endsWith('*') ? table.startsWith(name.slice(0, -1)) : table === name)),
    )
    .map(([owner]) => owner);

/** A text of a source file. */
interface Literal {
  text: string;
  /** The two tokens before it. */
  before: readonly [string, string];
}

/** The strings and the templates of a source file, each template in one piece with `?` for what is filled in. */
function literalsIn(code: string): Literal[] {
  const scanner = createScanner(true, undefined, code);
  const found: Literal[] = [];
  const open: (Literal & { braces: number })[] = [];
  let before: Literal['before'] = ['', ''];
  for (let token = scanner.scan(); token !== SyntaxKind.EndOfFile; token = scanner.scan()) {
    const inner = open.at(-1);
    // As the formatter writes it, a division has spaces around it.
    if (token === SyntaxKind.SlashToken && code[scanner.getTokenEnd()] !== ' ') scanner.reScanSlashToken();
    if (token === SyntaxKind.StringLiteral || token === SyntaxKind.NoSubstitutionTemplateLiteral)
      found.push({ text: scanner.getTokenValue(), before });
    else if (token === SyntaxKind.TemplateHead) open.push({ text: scanner.getTokenValue(), before, braces: 0 });
    else if (token === SyntaxKind.OpenBraceToken && inner) inner.braces += 1;
    else if (token === SyntaxKind.CloseBraceToken && inner && inner.braces > 0) inner.braces -= 1;
    else if (token === SyntaxKind.CloseBraceToken && inner) {
      const isLast = scanner.reScanTemplateToken(false) === SyntaxKind.TemplateTail;
      inner.text += `?${scanner.getTokenValue()}`;
      if (isLast) found.push(open.pop()!);
    }
    before = [before[1], scanner.getTokenText()];
  }
  return found;
}

/** What comes before a name of a table: a method of Kysely, `sql.table`, a type, or the member of a description. */
const naming =
  /^(?:(?:selectFrom|\w+Join|insertInto|updateTable|deleteFrom|mergeInto|from|using|table)\(|DB\[|table:)$/;
/** Tables whose names are also those of features, which access rules take. */
const alsoFeatures = ['merge_requests'];

/** The tables that a piece of SQL reads or writes, or whose rows it expects around it. */
const inSql = (sql: string): string[] =>
  [
    ...sql
      .replaceAll(/'[^']*'/g, "''")
      .matchAll(/\b(?:from|join|into|update|using|table)\s+(?:only\s+|lateral\s+)?(\w+)|\b(\w+)\.\w/g),
  ].map(([, named, qualifier]) => (named ?? qualifier)!);

/**
 * The tables that the statements of a source file name: in `sql` templates, in methods of Kysely, in its column references (`issues.id`), and in
 * strings that are the name of a table and nothing else.
 */
export function tablesIn(code: string): Set<string> {
  const names = literalsIn(code).flatMap(({ text, before }) => {
    if (before[1] === 'sql' || before[1] === '>') return inSql(text);
    const [, name, column] = /^(\w+)(?:\.(\w+)| as \w+)?$/.exec(text) ?? [];
    if (name === undefined) return [];
    return column !== undefined || naming.test(before.join('')) || (name.includes('_') && !alsoFeatures.includes(name))
      ? [name]
      : [];
  });
  return new Set(names.filter((name) => allTables.has(name)));
}

/** The tables that the code of a district names and that belong to districts to which no arrow of docs/architecture.md leads. */
export function foreignTables(
  code: string,
  district: string,
  reached: Awaited<ReturnType<typeof reachable>>,
): string[] {
  const places: readonly string[] = districts;
  const isForeign = (owner: string) =>
    owner !== district && places.includes(owner) && !reached.get(district)!.has(owner);
  return [...tablesIn(code)].filter((table) => ownersOf(table).some(isForeign)).sort();
}

/** A file that names a table of a district to which no arrow leads. */
export interface Trespass {
  /** The path below src/. */
  file: string;
  table: string;
}

export async function trespasses(): Promise<Trespass[]> {
  const reached = await reachable();
  return globSync('areas/*/**/*.ts', { cwd: src, exclude: (name) => name.endsWith('.test.ts') })
    .sort()
    .flatMap((file) => {
      const code = readFileSync(path.join(src, file), 'utf8');
      return foreignTables(code, file.split(path.sep)[1]!, reached).map((table) => ({ file, table }));
    });
}
