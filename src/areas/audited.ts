/** The nouns with audit events (docs/reference/audit_events.md#events). */
import { destinationAudit, hookAudit } from './activity/hooks/audit.ts';
import { runnerProjectAudit } from './ci/runners/audit.ts';
import { secureFileAudit } from './ci/secure_files/audit.ts';
import { triggerAudit } from './ci/triggers/audit.ts';
import {
  complianceFrameworkAudit,
  projectFrameworkAudit,
  requirementAudit,
} from './code/compliance_frameworks/audit.ts';
import { pullMirrorAudit, pushMirrorAudit } from './code/mirrors/audit.ts';
import { branchAccessAudit, protectedBranchAudit } from './code/protected_branches/audit.ts';
import { protectedTagAudit } from './code/protected_tags/audit.ts';
import { pushRuleAudit } from './code/push_rules/audit.ts';
import { runnerAudit } from './code/runners/audit.ts';
import { policyFileAudit, policyLinkAudit } from './code/security_policies/audit.ts';
import { clusterAudit } from './deployments/clusters/audit.ts';
import { deployKeyAudit } from './deployments/deploy_keys/audit.ts';
import { deployTokenAudit } from './deployments/deploy_tokens/audit.ts';
import { featureFlagAudit } from './deployments/feature_flags/audit.ts';
import { freezePeriodAudit } from './deployments/freeze_periods/audit.ts';
import { environmentRuleAudit, protectedEnvironmentAudit } from './deployments/protected_environments/audit.ts';
import { variableAudit } from './deployments/variables/audit.ts';
import { geoNodeAudit } from './geo/geo_nodes/audit.ts';
import { settingAudit } from './instance/application_settings/audit.ts';
import type { AuditedNoun } from './instance/audit_events/index.ts';
import { licenseAudit } from './instance/licenses/audit.ts';
import { planLimitAudit } from './instance/plan_limits/audit.ts';
import { applicationAudit } from './people/applications/audit.ts';
import { emailAudit } from './people/emails/audit.ts';
import { gpgKeyAudit } from './people/gpg_keys/audit.ts';
import { keyAudit } from './people/keys/audit.ts';
import { consentAudit } from './people/oauth_grants/audit.ts';
import { tokenAudit } from './people/personal_access_tokens/audit.ts';
import { scimTokenAudit } from './people/scim/audit.ts';
import { identityAudit, userAudit } from './people/users/audit.ts';
import { accessRequestAudit } from './spaces/access_requests/audit.ts';
import { groupLinkAudit } from './spaces/group_links/audit.ts';
import { groupAudit } from './spaces/groups/audit.ts';
import { invitationAudit } from './spaces/invitations/audit.ts';
import { jobTokenGroupAudit, jobTokenProjectAudit } from './spaces/job_token_scope/audit.ts';
import { memberRoleAudit } from './spaces/member_roles/audit.ts';
import { memberAudit } from './spaces/members/audit.ts';
import { projectAudit } from './spaces/projects/audit.ts';
import { ldapGroupLinkAudit, samlGroupLinkAudit } from './spaces/provider_links/audit.ts';
import { storageMoveAudit } from './spaces/storage_moves/audit.ts';
import {
  approvalRuleAudit,
  approvalRuleBranchAudit,
  approvalRuleGroupAudit,
  approvalRuleUserAudit,
  groupApprovalSettingsAudit,
} from './work/merge_requests/approvals/audit.ts';

export const auditedNouns: readonly AuditedNoun[] = [
  applicationAudit,
  accessRequestAudit,
  approvalRuleAudit,
  approvalRuleBranchAudit,
  approvalRuleGroupAudit,
  approvalRuleUserAudit,
  branchAccessAudit,
  clusterAudit,
  complianceFrameworkAudit,
  projectFrameworkAudit,
  requirementAudit,
  consentAudit,
  deployKeyAudit,
  deployTokenAudit,
  destinationAudit,
  emailAudit,
  environmentRuleAudit,
  featureFlagAudit,
  freezePeriodAudit,
  geoNodeAudit,
  gpgKeyAudit,
  groupApprovalSettingsAudit,
  groupAudit,
  groupLinkAudit,
  hookAudit,
  identityAudit,
  invitationAudit,
  jobTokenGroupAudit,
  jobTokenProjectAudit,
  keyAudit,
  ldapGroupLinkAudit,
  licenseAudit,
  memberAudit,
  memberRoleAudit,
  planLimitAudit,
  projectAudit,
  policyFileAudit,
  policyLinkAudit,
  protectedBranchAudit,
  protectedEnvironmentAudit,
  protectedTagAudit,
  pullMirrorAudit,
  pushMirrorAudit,
  pushRuleAudit,
  runnerAudit,
  runnerProjectAudit,
  samlGroupLinkAudit,
  scimTokenAudit,
  secureFileAudit,
  settingAudit,
  storageMoveAudit,
  tokenAudit,
  triggerAudit,
  userAudit,
  variableAudit,
];
