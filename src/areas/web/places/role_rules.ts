/** Custom roles: the rights that they can add, in words. */
import { fieldsOf } from '../declared/definition.ts';
import { roleNames } from './level_rules.ts';

const right = (label: string) => ({ label, help: undefined });

export const memberRoleFields = fieldsOf({
  name: {},
  description: {},
  base_access_level: { label: 'Begins with the role', words: roleNames },
  read_code: right('Read code'),
  read_dependency: right('See dependencies'),
  read_vulnerability: right('See vulnerabilities'),
  admin_vulnerability: right('Change vulnerabilities'),
  admin_merge_request: right('Approve and manage merge requests'),
  manage_merge_request_settings: right('Change settings of merge requests'),
  admin_push_rules: right('Change push rules'),
  manage_security_policy_link: right('Link security policies'),
  admin_cicd_variables: right('Change variables'),
  admin_web_hook: right('Change webhooks'),
  manage_deploy_tokens: right('Manage deploy tokens'),
  manage_project_access_tokens: right('Manage access tokens of projects'),
  manage_group_access_tokens: right('Manage access tokens of groups'),
  admin_group_member: right('Manage members of groups'),
  archive_project: right('Archive projects'),
  remove_project: right('Delete projects'),
  remove_group: right('Delete groups'),
});
