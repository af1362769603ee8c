/** Application settings, which administrators set for the whole server. */
import { type Static, type TObject, Type } from 'typebox';
import { admin, forgetRanges, groupFor, type MaybeCaller } from '../../../access/index.ts';
import { durationOf } from '../../../ci_configuration/index.ts';
import { type Database, stamped } from '../../../db/index.ts';
import { inRanges, isLoopback, rangeReasons, rangesIn } from '../../../foundation/address_ranges.ts';
import { isValidBranchName } from '../../../git/index.ts';
import {
  allOptional,
  atLeastOneOf,
  CommaList,
  type Conditions,
  checked,
  deprecated,
  get,
  invalid,
  nullable,
  one,
  put,
  resource,
  type Services,
  Timestamp,
  Visibility,
} from '../../../http/index.ts';
import { domainReasons, expressionReasons } from './email_checks.ts';
import { type Settings, settingsOf } from './queries.ts';
import { ageReasons, durationReasons, originReasons, prefixReasons, weightReasons, weightsOf } from './rules.ts';

/** The column holds four bytes. */
const largest = 2 ** 31 - 1;
const Count = (description: string) => Type.Integer({ minimum: 0, maximum: largest, description });
const Limit = (description: string) => Count(`${description}; 0: no limit`);

const throttle = <K extends string>(kind: K, what: string) =>
  ({
    [`throttle_${kind}_enabled`]: Type.Boolean({ description: `Whether ${what} are counted` }),
    [`throttle_${kind}_requests_per_period`]: Type.Integer({ minimum: 1, maximum: largest }),
    [`throttle_${kind}_period_in_seconds`]: Type.Integer({ minimum: 1, maximum: largest }),
  }) as Record<`throttle_${K}_enabled`, ReturnType<typeof Type.Boolean>> &
    Record<`throttle_${K}_requests_per_period` | `throttle_${K}_period_in_seconds`, ReturnType<typeof Type.Integer>>;

const branchReasons = (name: string | null) =>
  name === null || name === '' || isValidBranchName(name) ? [] : ['is invalid'];

const Domains = (description: string) => checked(CommaList(Type.String({ description })), domainReasons);

/** Each of them is a column. */
const columns = {
  default_project_visibility: Visibility,
  default_group_visibility: Visibility,
  default_snippet_visibility: Visibility,
  restricted_visibility_levels: CommaList(Visibility),
  default_branch_name: checked(nullable(Type.String({ description: 'Null: `main`' })), branchReasons),
  default_branch_protection: Type.Enum([0, 1, 2, 3, 4], {
    description: '0 none, 1 against force pushes, 2 full, 3 against pushes, 4 full after the first push',
  }),
  default_project_creation: Type.Enum([0, 1, 2, 3, 4], {
    description: 'Default for new groups: 0 no one, 1 maintainers, 2 developers, 3 administrators, 4 owners',
  }),
  local_markdown_version: Type.Integer({
    minimum: 0,
    maximum: 65_535,
    description: 'Clients raise it to have texts rendered anew, which this server does each time',
  }),
  default_projects_limit: Count('How many personal projects a new user may have'),
  can_create_group: Type.Boolean({ description: 'Whether new users can create top-level groups' }),
  user_default_external: Type.Boolean(),
  user_defaults_to_private_profile: Type.Boolean(),
  email_confirmation_setting: Type.Enum(['off', 'soft', 'hard'], {
    description:
      'Whether unconfirmed users can use their account: always (`off`), for three days (`soft`) or never (`hard`)',
  }),
  signup_enabled: Type.Boolean({
    description: 'Whether people can create an account: who is invited, and others on the sign-up page',
  }),
  require_admin_approval_after_user_signup: Type.Boolean({
    description: 'Whether an administrator must approve an account that was created without an invitation',
  }),
  domain_allowlist: Domains('Only addresses in these domains can join; `*` matches any text; empty: any domain'),
  domain_denylist_enabled: Type.Boolean(),
  domain_denylist: Domains('Addresses in these domains cannot join'),
  email_restrictions_enabled: Type.Boolean(),
  email_restrictions: nullable(
    Type.String({ description: 'A regular expression (RE2); matching email addresses cannot join' }),
  ),
  enable_member_promotion_management: Type.Boolean({
    description: 'Ultimate: whether an administrator must approve roles that take a seat',
  }),
  seat_control: Type.Enum(['off', 'block_overages'], {
    description: 'Premium: `block_overages` refuses new members when no seat is left',
  }),
  require_two_factor_authentication: Type.Boolean({ description: 'Whether everybody must have a second factor' }),
  require_admin_two_factor_authentication: Type.Boolean({
    description: 'Whether administrators must have a second factor',
  }),
  two_factor_grace_period: Count('In hours: how long they have to set it up; 0: at once'),
  password_authentication_enabled_for_web: Type.Boolean({
    description: 'Whether passwords sign in on pages; administrators can always',
  }),
  password_authentication_enabled_for_git: Type.Boolean({
    description: 'Whether passwords count for git and LFS over HTTP and for `/oauth/token`',
  }),
  notify_on_unknown_sign_in: Type.Boolean({
    description: 'Whether people get mail about a sign-in from an address and a browser that are new to their account',
  }),
  session_expire_delay: Type.Integer({
    minimum: 1,
    maximum: 90 * 24 * 60,
    description: 'In minutes: how long a session lasts without use',
  }),
  session_expire_from_init: Type.Boolean({ description: 'Whether that time counts from the start of the session' }),
  deactivate_dormant_users: Type.Boolean({ description: 'Whether accounts without activity are deactivated' }),
  deactivate_dormant_users_period: Type.Integer({
    minimum: 90,
    maximum: 36_500,
    description: 'In days: how long they were without activity',
  }),
  globally_allowed_ips: checked(
    Type.String({
      description: 'Addresses and CIDR ranges, separated by commas, from which every group can be reached',
    }),
    rangeReasons,
  ),
  ip_restriction_ranges: checked(
    Type.String({
      description:
        'Addresses and CIDR ranges, separated by commas, from which alone the server can be reached; empty: all',
    }),
    rangeReasons,
  ),
  disable_personal_access_tokens: Type.Boolean({
    description: 'Whether personal access tokens of people are refused',
  }),
  max_personal_access_token_lifetime: nullable(
    Type.Integer({ minimum: 1, maximum: 365, description: 'In days; null: 365' }),
  ),
  require_personal_access_token_expiry: Type.Boolean(),
  service_access_tokens_expiration_enforced: Type.Boolean(),
  allow_top_level_group_owners_to_create_service_accounts: Type.Boolean({
    description: 'Premium: whether owners of a top-level group can manage its service accounts',
  }),
  personal_access_token_prefix: checked(Type.String(), prefixReasons),
  deletion_adjourned_period: Type.Integer({
    minimum: 1,
    maximum: 90,
    description: 'Days until marked projects and groups are deleted',
  }),
  repository_storages_weighted: Type.Record(Type.String(), Type.Integer({ minimum: 0, maximum: 100 }), {
    description: 'Storages with their share of new projects',
  }),
  repository_storage_move_limit: Type.Integer({
    minimum: 1,
    maximum: 16,
    description: 'How many storage moves run at a time',
  }),
  max_attachment_size: Type.Integer({
    minimum: 0,
    maximum: 102_400,
    description: 'The largest file that can be uploaded for a text, in MiB',
  }),
  snippet_size_limit: Limit('The largest file of a snippet, and the largest repository of one, in bytes'),
  wiki_page_max_content_bytes: Type.Integer({
    minimum: 1024,
    maximum: largest,
    description: 'The largest page of a wiki, in bytes',
  }),
  code_search: Type.Enum(['on', 'git', 'off'], {
    description: 'How code is searched: with an index, with git alone, or not at all',
  }),
  max_artifacts_size: Type.Integer({
    minimum: 1,
    maximum: 102_400,
    description: 'The largest file that a job may leave, in MiB',
  }),
  max_terraform_state_size_bytes: Type.Integer({
    minimum: 0,
    maximum: 67_108_864,
    description: 'The largest state of Terraform, in bytes; 0: as large as the maximum',
  }),
  max_terraform_state_versions: Type.Integer({
    minimum: 1,
    maximum: 10_000,
    description: 'How many versions of a state of Terraform are kept',
  }),
  default_artifacts_expire_in: checked(
    Type.String({ description: 'How long the files of jobs are kept that do not say it; `0`: always' }),
    durationReasons,
  ),
  archive_builds_in_human_readable: checked(
    nullable(
      Type.String({ description: 'The age from which pipelines do not run again, such as `1 year`; null: never' }),
    ),
    ageReasons,
  ),
  keep_latest_artifact: Type.Boolean({
    description: 'Whether the files of the latest pipeline of a branch or tag that succeeded are kept',
  }),
  pipelines_for_pushes: Type.Boolean({
    description: 'Whether a push makes a pipeline of the configuration in it',
  }),
  allow_runner_registration_token: Type.Boolean({
    description: 'Whether runners may register with a registration token; otherwise people make them',
  }),
  runner_token_expiration_interval: nullable(
    Type.Integer({
      minimum: 7200,
      maximum: largest,
      description: 'After how many seconds the tokens of runners expire; null: never',
    }),
  ),
  ci_long_poll_seconds: Type.Integer({
    minimum: 0,
    maximum: 50,
    description: 'How many seconds the request of a runner waits for a job; 0: it does not wait',
  }),
  ci_job_start_seconds: Type.Integer({
    minimum: 10,
    maximum: largest,
    description: 'After how many seconds a job waits again whose runner has said nothing of it',
  }),
  ci_job_silence_seconds: Type.Integer({
    minimum: 60,
    maximum: largest,
    description: 'After how many seconds a job fails whose runner is silent',
  }),
  costly_pages_need_sign_in: Type.Boolean({
    description: 'Whether only visitors who are signed in see pages of files, commits and changes',
  }),
  user_oauth_applications: Type.Boolean({
    description: 'Whether users can register applications of their own',
  }),
  ropc_without_client_credentials: Type.Boolean({
    description: 'Whether a password gives an OAuth token without an application',
  }),
  lock_memberships_to_ldap: Type.Boolean({ description: 'Whether only administrators change memberships' }),
  allow_group_owners_to_manage_ldap: Type.Boolean({
    description: 'Whether Owners of groups, and not only administrators, link them with groups of directories',
  }),
  project_feature_flags_limit: Count('How many feature flags a project can have'),
  feature_flags_unleash_requests_limit: Limit(
    'Requests of applications for the feature flags of a project in a minute',
  ),
  bulk_import_enabled: Type.Boolean({
    description: 'Whether groups and projects can be migrated by direct transfer, from this server and to it',
  }),
  bulk_import_max_download_file_size: Limit('The largest file that a direct transfer downloads, in MB'),
  max_decompressed_archive_size: Limit('The largest size of a downloaded file when it is decompressed, in MiB'),
  bulk_import_concurrent_pipeline_batch_limit: Type.Integer({
    minimum: 1,
    maximum: largest,
    description: 'How many batches are imported at a time',
  }),
  bulk_import_trusted_sources: checked(
    CommaList(
      Type.String({
        description:
          'Servers that are believed when they say whose address a person has, such as `https://git.example.com`',
      }),
    ),
    originReasons,
  ),
  relation_export_batch_size: Type.Integer({
    minimum: 1,
    maximum: 10_000,
    description: 'Records in a batch of a relation export',
  }),
  concurrent_relation_export_limit: Type.Integer({
    minimum: 1,
    maximum: largest,
    description: 'How many jobs of relation exports run at a time',
  }),
  relation_export_requests_limit: Limit('Relation exports that a user can start in a minute'),
  push_event_activities_limit: Count(
    'How many branches or tags one push may move before they are recorded as one event',
  ),
  users_get_by_id_limit: Limit('Calls by one user in 10 minutes'),
  users_get_by_id_limit_allowlist: CommaList(
    Type.String({ description: 'Usernames to which the limit does not apply' }),
  ),
  project_api_limit: Limit('Calls by one caller in 10 minutes'),
  projects_api_limit: Limit('Calls by one user in 10 minutes'),
  projects_api_rate_limit_unauthenticated: Limit('Calls from one IP address in 10 minutes'),
  group_api_limit: Limit('Calls by one caller in a minute'),
  groups_api_limit: Limit('Calls by one caller in a minute'),
  notes_create_limit: Limit('New comments of one user in a minute'),
  notes_create_limit_allowlist: CommaList(Type.String({ description: 'Usernames to which the limit does not apply' })),
  issues_create_limit: Limit('New issues and epics of one user in a minute'),
  search_rate_limit: Limit('Searches by one user in a minute'),
  search_rate_limit_unauthenticated: Limit('Searches from one IP address in a minute'),
  ...throttle('unauthenticated_api', 'requests without a token, by IP address'),
  ...throttle('authenticated_api', 'requests of users'),
  ...throttle('unauthenticated_files_api', 'requests for repository files without a token, by IP address'),
  ...throttle('authenticated_files_api', 'requests of users for repository files'),
  rate_limiting_response_text: nullable(Type.String({ description: 'Response text for throttled requests' })),
  error_tracking_events_per_minute: Limit('Events that a project can send to its error tracking in a minute'),
  error_tracking_retention_days: Type.Integer({
    minimum: 1,
    maximum: 90,
    description: 'Days until errors, their events and release health are deleted',
  }),
  audit_retention_days: nullable(
    Type.Integer({
      minimum: 1,
      maximum: largest,
      description: 'Days after which the months of audit events are dropped; null for never',
    }),
  ),
  allow_local_requests_from_web_hooks_and_services: Type.Boolean({
    description: 'Whether URLs of other systems may point to this machine or its network',
  }),
  asset_proxy_enabled: Type.Boolean({
    description: 'Whether pages show pictures of other servers, which this server fetches',
  }),
  allow_local_requests_from_system_hooks: Type.Boolean({
    description: 'The same for webhooks of the server, which administrators add',
  }),
  mirror_available: Type.Boolean({
    description: 'Whether maintainers can set up mirrors of repositories; otherwise only administrators can',
  }),
  mirror_max_delay: Type.Integer({
    minimum: 1,
    maximum: largest,
    description: 'Minutes within which a pull mirror runs again, also after failures',
  }),
  mirror_max_capacity: Type.Integer({
    minimum: 1,
    maximum: largest,
    description: 'How many pull mirrors may run or wait for their run at once',
  }),
  mirror_capacity_threshold: Type.Integer({
    minimum: 1,
    maximum: largest,
    description: 'How much of the capacity has to be free before more are scheduled, at most half of it',
  }),
  push_event_hooks_limit: Count(
    'How many branches or tags a push may change before it no longer triggers webhooks for them',
  ),
};
/** Given as a path, and stored as an id in the column. */
const references = {
  team_group: nullable(
    Type.String({ description: 'Path of the group whose members can list experiments; null: administrators only' }),
  ),
};
const oldNames = {
  repository_storages: deprecated('use `repository_storages_weighted`', CommaList(Type.String())),
};
const input = allOptional({ ...columns, ...references, ...oldNames });

const ApplicationSettings = resource('ApplicationSettings', {
  id: Type.Integer(),
  ...columns,
  ...references,
  ...oldNames,
  created_at: Timestamp,
  updated_at: Timestamp,
});

async function present(
  { counts_requests: _derived, runner_registration_version: _version, ...settings }: Settings,
  { db, storages }: Pick<Services, 'db' | 'storages'>,
) {
  const weights = weightsOf(settings.repository_storages_weighted, Object.keys(storages));
  return {
    ...settings,
    repository_storages_weighted: weights,
    repository_storages: Object.keys(weights).filter((name) => weights[name]! > 0),
    team_group: await pathOfGroup(db, settings.team_group_id),
  } as Static<typeof ApplicationSettings>;
}

async function pathOfGroup(db: Database, id: number | null): Promise<string | null> {
  if (id === null) return null;
  const group = await db.selectFrom('namespaces').select('full_path').where('id', '=', id).executeTakeFirst();
  return group?.full_path ?? null;
}

/** @throws ApiError 400 if the path is not that of a group */
async function teamGroupId(db: Database, caller: MaybeCaller, path: string | null): Promise<number | null> {
  if (!path) return null;
  const group = await groupFor(db, caller, path);
  if (!group) throw invalid({ team_group: ['does not exist'] });
  return group.id;
}

/** @throws ApiError 400 if the text is not a valid expression */
async function checkRestrictions(expression: string | null | undefined): Promise<void> {
  const reasons = expression ? await expressionReasons(expression) : [];
  if (reasons.length > 0) throw invalid({ email_restrictions: reasons });
}

/** @throws ApiError 400 for ranges without the address from which they are set */
function checkOwnAddress(ranges: string | undefined, { address = '' }: Conditions['sent_from']): void {
  if (ranges && !inRanges(rangesIn(ranges))(address) && !isLoopback(address))
    throw invalid({ ip_restriction_ranges: ['would lock you out'] });
}

/** Converts parameters to columns. */
function changesFrom(given: Omit<Static<TObject<typeof input>>, 'team_group'>, storages: Services['storages']) {
  const {
    repository_storages,
    repository_storages_weighted,
    default_branch_name,
    restricted_visibility_levels,
    archive_builds_in_human_readable: age,
    ...others
  } = given;
  const weights =
    repository_storages_weighted ??
    (repository_storages && Object.fromEntries(repository_storages.map((name) => [name, 100] as const)));
  const reasons = weightReasons(weights ?? {}, Object.keys(storages));
  if (reasons.length > 0)
    throw invalid({ [repository_storages_weighted ? 'repository_storages_weighted' : 'repository_storages']: reasons });
  return {
    ...others,
    ...(age === undefined
      ? {}
      : { archive_builds_in_human_readable: age, archive_builds_seconds: age === null ? null : durationOf(age)! }),
    ...(weights ? { repository_storages_weighted: JSON.stringify(weights) } : {}),
    ...(default_branch_name === undefined ? {} : { default_branch_name: default_branch_name || null }),
    ...(restricted_visibility_levels
      ? { restricted_visibility_levels: [...new Set(restricted_visibility_levels)] }
      : {}),
  };
}

export const applicationSettingRoutes = [
  get('/application/settings', {
    operation: 'getApplicationSettings',
    summary: 'Get the application settings',
    access: admin,
    returns: one(ApplicationSettings),
    handle: async ({ db, storages }) => present(await settingsOf(db), { db, storages }),
  }),
  put('/application/settings', {
    operation: 'updateApplicationSettings',
    summary: 'Update the application settings',
    access: admin,
    input,
    rules: [atLeastOneOf(...Object.keys(input))],
    returns: one(ApplicationSettings),
    refusals: { 400: '<parameter>: <reason>' },
    handle: async ({ db, storages, caller, sent_from, input: { team_group, ...given } }) => {
      checkOwnAddress(given.ip_restriction_ranges, sent_from);
      await checkRestrictions(given.email_restrictions);
      const team = team_group === undefined ? {} : { team_group_id: await teamGroupId(db, caller, team_group) };
      await db
        .updateTable('application_settings')
        .set(stamped({ ...changesFrom(given, storages), ...team }))
        .where('id', '=', 1)
        .execute();
      forgetRanges(db);
      return present(await settingsOf(db), { db, storages });
    },
  }),
];
