/** What audit events are about, and the names of events that are not the change of a row. */

export const entityTypes = ['User', 'Group', 'Project', 'Gitlab::Audit::InstanceScope'] as const;

/** The names that actions write themselves, with `audit`. */
const spokenNames = [
  'authenticated_with_password',
  'authenticated_with_two_factor',
  'authenticated_with_webauthn',
  'authenticated_with_ldap',
  'authenticated_with_oauth',
  'authenticated_with_saml',
  'login_failed_with_standard_authentication',
  'login_failed_with_otp_authentication',
  'login_failed_with_webauthn_authentication',
  'omniauth_login_failed',
  'user_signed_out',
  'user_access_locked',
  'password_reset_requested',
  'user_destroyed',
  'user_rejected',
  'user_impersonation',
  'user_enable_two_factor',
  'user_disable_two_factor',
  'user_provisioned_by_scim',
  'project_imported',
  'direct_transfer_relations_export_initiated',
  'freeze_overridden',
  'terraform_state_unlocked',
  'ip_restrictions_changed',
  'cli_command',
] as const;

export type SpokenName = (typeof spokenNames)[number];
