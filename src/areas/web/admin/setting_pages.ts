/** Application settings in sections, the limits of projects, and the appearance. */
import { formOf, settingsPage } from '../declared/definition.ts';
import { formPart, reading } from '../declared/form_present.ts';
import { listPart } from '../declared/list_present.ts';
import { textOf } from '../declared/views.ts';
import { roleNames, visibilityWords } from '../places/level_rules.ts';

const settings = reading('getApplicationSettings');
const button = 'Save changes';

const generalPage = settingsPage('admin', 'general', [
  formPart('sign_up', {
    ...formOf(
      'updateApplicationSettings',
      {
        signup_enabled: { label: 'People can create accounts' },
        require_admin_approval_after_user_signup: { label: 'An administrator approves each new account' },
        email_confirmation_setting: {
          label: 'Addresses are confirmed',
          words: { off: 'Not before they can sign in', soft: 'Within three days', hard: 'Before they can sign in' },
          help: undefined,
        },
        domain_allowlist: { label: 'Only addresses of these domains' },
        domain_denylist_enabled: { label: 'Refuse addresses of the domains below' },
        domain_denylist: { label: 'Refused domains' },
        email_restrictions_enabled: { label: 'Refuse addresses that match the pattern below' },
        email_restrictions: { label: 'Pattern of refused addresses' },
        seat_control: {
          label: 'When no seat is left',
          words: { off: 'New members are let in', block_overages: 'New members are refused' },
          help: undefined,
        },
        enable_member_promotion_management: {
          label: 'An administrator approves roles that take a seat',
          help: undefined,
        },
      },
      { heading: 'Sign-up and seats', button },
    ),
    reads: settings,
  }),
  formPart('new_users', {
    ...formOf(
      'updateApplicationSettings',
      {
        default_projects_limit: { label: 'Personal projects at most', help: undefined },
        can_create_group: { label: 'They can create top-level groups', help: undefined },
        user_default_external: { label: 'They are external' },
        user_defaults_to_private_profile: { label: 'Their profile is private' },
      },
      { heading: 'New users', button },
    ),
    reads: settings,
  }),
  formPart('visibility', {
    ...formOf(
      'updateApplicationSettings',
      {
        default_project_visibility: { label: 'New projects', words: visibilityWords },
        default_group_visibility: { label: 'New groups', words: visibilityWords },
        default_snippet_visibility: { label: 'New snippets', words: visibilityWords },
        restricted_visibility_levels: { label: 'Only administrators may choose', words: visibilityWords },
        default_project_creation: {
          label: 'Who may create projects in new groups',
          words: {
            0: 'No one',
            3: 'Administrators',
            4: 'Owners',
            1: 'Maintainers',
            2: 'Developers and Maintainers',
          },
          help: undefined,
        },
        deletion_adjourned_period: { label: 'Days until what is deleted is gone', help: undefined },
      },
      { heading: 'Visibility and defaults', button },
    ),
    reads: settings,
  }),
  formPart('sign_in', {
    ...formOf(
      'updateApplicationSettings',
      {
        password_authentication_enabled_for_web: { label: 'Passwords sign in on pages' },
        password_authentication_enabled_for_git: { label: 'Passwords count for git over HTTP' },
        require_two_factor_authentication: { label: 'Everybody must have a second factor', help: undefined },
        require_admin_two_factor_authentication: {
          label: 'Administrators must have a second factor',
          help: undefined,
        },
        two_factor_grace_period: { label: 'Hours to set it up', help: 'With 0, at once.' },
        notify_on_unknown_sign_in: { label: 'Mail about sign-ins from new places' },
        session_expire_delay: { label: 'Minutes that a session lasts without use', help: undefined },
        session_expire_from_init: { label: 'They count from its start', help: undefined },
        ip_restriction_ranges: { label: 'The server is reached only from' },
        globally_allowed_ips: { label: 'Every group is reached from' },
        deactivate_dormant_users: { label: 'Deactivate accounts without activity', help: undefined },
        deactivate_dormant_users_period: { label: 'After how many days', help: undefined },
      },
      { heading: 'Signing in', button },
    ),
    reads: settings,
  }),
  formPart('tokens', {
    ...formOf(
      'updateApplicationSettings',
      {
        disable_personal_access_tokens: { label: 'People have no personal access tokens', help: undefined },
        max_personal_access_token_lifetime: { label: 'Days that tokens last at most' },
        require_personal_access_token_expiry: { label: 'Tokens of users must expire' },
        service_access_tokens_expiration_enforced: { label: 'Tokens of service accounts must expire' },
        allow_top_level_group_owners_to_create_service_accounts: {
          label: 'Owners of top-level groups manage service accounts',
          help: undefined,
        },
        personal_access_token_prefix: { label: 'Beginning of new tokens' },
      },
      { heading: 'Tokens', button },
    ),
    reads: settings,
  }),
]);

const repositoryPage = settingsPage('admin', 'repository', [
  formPart('branches', {
    ...formOf(
      'updateApplicationSettings',
      {
        default_branch_name: { label: 'Default branch of new projects', help: 'Left empty: main.' },
        default_branch_protection: {
          label: 'Its protection',
          words: {
            0: 'None',
            1: 'Against force pushes',
            2: 'Full',
            3: 'Against pushes of Developers',
            4: 'Full after the first push',
          },
          help: undefined,
        },
        push_event_activities_limit: { label: 'Branches in one push until they count as one event', help: undefined },
        push_event_hooks_limit: { label: 'Branches in one push until webhooks are silent', help: undefined },
      },
      { heading: 'Branches and pushes', button },
    ),
    reads: settings,
  }),
  formPart('sizes', {
    ...formOf(
      'updateApplicationSettings',
      {
        max_attachment_size: { label: 'Largest attachment, in MiB', help: undefined },
        snippet_size_limit: { label: 'Largest snippet, in bytes', help: '0: no limit.' },
        wiki_page_max_content_bytes: { label: 'Largest wiki page, in bytes', help: undefined },
        project_feature_flags_limit: { label: 'Feature flags of a project', help: undefined },
      },
      { heading: 'Sizes', button },
    ),
    reads: settings,
  }),
  formPart('code', {
    ...formOf(
      'updateApplicationSettings',
      {
        code_search: { words: { on: 'With an index', git: 'With git alone', off: 'Not at all' }, help: undefined },
        allow_runner_registration_token: { label: 'Runners may register with a token', help: undefined },
        pipelines_for_pushes: {
          label: 'Pushes make pipelines',
          help: 'Their jobs wait until a runner is connected.',
        },
        user_oauth_applications: { label: 'Users register applications of their own', help: undefined },
        ropc_without_client_credentials: {
          label: 'A password gives an OAuth token without an application',
          help: undefined,
        },
        lock_memberships_to_ldap: { label: 'Only administrators change memberships', help: undefined },
        allow_group_owners_to_manage_ldap: {
          label: 'Owners link their groups with groups of directories',
          help: 'Otherwise only administrators do.',
        },
        costly_pages_need_sign_in: {
          label: 'Files, commits and changes only for those who are signed in',
          help: undefined,
        },
        max_artifacts_size: { label: 'Largest file of a job, in MiB', help: undefined },
        max_terraform_state_size_bytes: { label: 'Largest Terraform state, in bytes', help: '0: 64 MiB.' },
        max_terraform_state_versions: { label: 'Kept versions of a Terraform state', help: undefined },
        default_artifacts_expire_in: { label: 'How long files of jobs are kept', help: 'Such as 30 days. 0: always.' },
        archive_builds_in_human_readable: {
          label: 'Age from which pipelines do not run again',
          help: 'Such as 1 year. Empty: never.',
        },
        keep_latest_artifact: {
          label: 'Files of the latest pipeline of a branch that succeeded are kept',
          help: undefined,
        },
        mirror_available: { label: 'Maintainers can set up mirrors', help: undefined },
        mirror_max_delay: { label: 'Minutes between runs of a mirror' },
        mirror_max_capacity: { label: 'Mirrors that run at once' },
        mirror_capacity_threshold: {},
      },
      { heading: 'Code and mirrors', button },
    ),
    reads: settings,
  }),
  formPart('errors', {
    ...formOf(
      'updateApplicationSettings',
      {
        error_tracking_events_per_minute: { label: 'Events of a project in a minute', help: '0: no limit.' },
        error_tracking_retention_days: { label: 'Days until errors are deleted', help: undefined },
      },
      { heading: 'Error tracking', button },
    ),
    reads: settings,
  }),
  formPart('audit', {
    ...formOf(
      'updateApplicationSettings',
      { audit_retention_days: { label: 'Days until audit events are dropped', help: 'Empty: never.' } },
      { heading: 'Audit events', button },
    ),
    reads: settings,
  }),
  formPart('migrations', {
    ...formOf(
      'updateApplicationSettings',
      {
        bulk_import_enabled: { label: 'Groups and projects can be migrated from here and to here', help: undefined },
        bulk_import_trusted_sources: { label: 'Servers whose users are trusted' },
        bulk_import_max_download_file_size: { label: 'Largest download, in MB' },
        max_decompressed_archive_size: { label: 'Largest decompressed file, in MiB' },
        bulk_import_concurrent_pipeline_batch_limit: { label: 'Batches at a time', help: undefined },
        relation_export_batch_size: { label: 'Records of a batch', help: undefined },
        concurrent_relation_export_limit: { label: 'Exports at a time', help: undefined },
      },
      { heading: 'Migrations', button },
    ),
    reads: settings,
  }),
]);

const throttle = (name: string, label: string) => ({
  [`throttle_${name}_enabled`]: { label, help: undefined },
  [`throttle_${name}_requests_per_period`]: { label: 'Requests' },
  [`throttle_${name}_period_in_seconds`]: { label: 'In so many seconds' },
});

const limit = (label: string) => ({ label });

const networkPage = settingsPage('admin', 'network', [
  formPart('requests', {
    ...formOf(
      'updateApplicationSettings',
      {
        ...throttle('unauthenticated_api', 'Count requests without a token, by address'),
        ...throttle('authenticated_api', 'Count requests of users'),
        ...throttle('unauthenticated_files_api', 'Count requests for files without a token'),
        ...throttle('authenticated_files_api', 'Count requests of users for files'),
        rate_limiting_response_text: { label: 'What those who ask too often are told', help: undefined },
      },
      { heading: 'Requests', button },
    ),
    reads: settings,
  }),
  formPart('calls', {
    ...formOf(
      'updateApplicationSettings',
      {
        users_get_by_id_limit: limit('Users, one by one'),
        users_get_by_id_limit_allowlist: limit('Users who are not counted there'),
        projects_api_limit: limit('Lists of projects'),
        projects_api_rate_limit_unauthenticated: limit('Lists of projects, without a token'),
        project_api_limit: limit('Projects, one by one'),
        groups_api_limit: limit('Lists of groups'),
        group_api_limit: limit('Groups, one by one'),
        search_rate_limit: limit('Searches'),
        search_rate_limit_unauthenticated: limit('Searches without a token'),
        issues_create_limit: limit('New issues'),
        notes_create_limit: limit('New comments'),
        notes_create_limit_allowlist: limit('Users who are not counted there'),
        relation_export_requests_limit: limit('Exports'),
        feature_flags_unleash_requests_limit: limit('Requests of applications for feature flags'),
      },
      { heading: 'How often', button },
    ),
    reads: settings,
  }),
  formPart('outbound', {
    ...formOf(
      'updateApplicationSettings',
      {
        allow_local_requests_from_web_hooks_and_services: {
          label: 'Webhooks and mirrors may reach the local network',
          help: undefined,
        },
        allow_local_requests_from_system_hooks: { label: 'System hooks may reach the local network', help: undefined },
      },
      { heading: 'Requests to other systems', button },
    ),
    reads: settings,
  }),
]);

const planLimitsPage = settingsPage('admin', 'plan_limits', [
  formPart('limits', {
    ...formOf(
      'updatePlanLimits',
      {
        project_hooks: { label: 'Webhooks of a project', help: undefined },
        group_hooks: { label: 'Webhooks of a group', help: undefined },
        project_feature_flags: { label: 'Feature flags of a project', help: undefined },
      },
      { button, parameters: { plan_name: 'default' } },
    ),
    reads: reading('getPlanLimits'),
  }),
]);

const picture = (name: 'logo' | 'header_logo' | 'favicon' | 'pwa_icon', heading: string) => [
  formPart(name, {
    ...formOf(
      'updateAppearance',
      { [name]: { label: 'File', help: undefined } },
      { heading, button: 'Upload', look: 'plain' },
    ),
  }),
  formPart(`remove_${name}`, {
    ...formOf(
      'updateAppearance',
      {},
      { button: 'Remove it', look: 'danger', parameters: { [name]: null }, done: 'The picture is removed.' },
    ),
    reads: reading('getAppearance'),
    isShown: (reply) => reply[name] !== null,
  }),
];

const appearancePage = settingsPage('admin', 'appearance', [
  formPart('appearance', {
    ...formOf(
      'updateAppearance',
      {
        title: { label: 'Title of the sign-in page' },
        description: { label: 'Text of the sign-in page', kind: 'area' },
        member_guidelines: { label: 'Text above members', kind: 'area' },
        new_project_guidelines: { label: 'Text above new projects', kind: 'area' },
        profile_image_guidelines: { label: 'Text about pictures of users', kind: 'area' },
        header_message: { label: 'Above every page' },
        footer_message: { label: 'Below every page' },
        message_background_color: { label: 'Ground of these texts, such as #e75e40' },
        message_font_color: { label: 'Colour of these texts' },
        email_header_and_footer_enabled: { label: 'Also in mail' },
        pwa_name: { label: 'Name of the application' },
        pwa_short_name: { label: 'Short name of it' },
        pwa_description: { label: 'Description of it' },
      },
      { button },
    ),
    reads: reading('getAppearance'),
  }),
  ...picture('logo', 'Picture of the sign-in page'),
  ...picture('header_logo', 'Picture in the header'),
  ...picture('favicon', 'Icon'),
  ...picture('pwa_icon', 'Icon of the application'),
]);

const messageFields = {
  message: { kind: 'area', label: 'Message', is_clearable: true },
  broadcast_type: { label: 'Kind', words: { banner: 'Above every page', notification: 'A note' }, help: undefined },
  theme: { help: undefined },
  starts_at: { label: 'From' },
  ends_at: { label: 'Until' },
  target_path: { label: 'Only on these pages', help: 'A path, in which * stands for anything.' },
  target_access_levels: { label: 'Only for members with these roles', words: roleNames, help: undefined },
  dismissable: { label: 'Readers can dismiss it', help: undefined },
} as const;

const messagesPage = settingsPage('admin', 'messages', [
  listPart('message', {
    list: 'listBroadcastMessages',
    names: ({ id }) => ({ id: Number(id) }),
    title: ({ message }) => textOf({ message }, 'message').slice(0, 80),
    line: ['active', 'broadcast_type', 'theme', 'starts_at', 'ends_at', 'target_path', 'dismissable'],
    empty: 'There are no messages.',
    create: formOf('createBroadcastMessage', messageFields, { button: 'Add the message', heading: 'New message' }),
    edit: formOf('updateBroadcastMessage', messageFields, { button: 'Save' }),
    buttons: {
      remove: { runs: 'deleteBroadcastMessage', label: 'Delete', look: 'danger', done: 'The message is deleted.' },
    },
  }),
]);

export const adminSettingPages = [
  generalPage,
  repositoryPage,
  networkPage,
  planLimitsPage,
  appearancePage,
  messagesPage,
];
