/** Settings of projects and groups. */
import { pageBelow } from '../../../access/index.ts';
import { redirect } from '../../../pages/index.ts';
import { approvalPages } from './approval_pages.ts';
import { badgeSettingsPages, uploadPages, variablePages } from './build_pages.ts';
import { groupCarefulPage, projectCarefulPage } from './careful_pages.ts';
import { errorTrackingSettingsPage } from './error_tracking_pages.ts';
import { freezePeriodsPage } from './freeze_pages.ts';
import { featuresPage, generalPage, mergeRequestSettingsPage } from './general_pages.ts';
import { groupSettingsPages } from './group_pages.ts';
import { hookPages } from './hook_pages.ts';
import { protectedBranchPages, protectedEnvironmentPages, protectedTagsPage } from './protection_pages.ts';
import { providerLinkPage } from './provider_link_pages.ts';
import { pushRulePages } from './push_rule_pages.ts';
import { runnerPages } from './runner_pages.ts';
import { securityPolicyPages } from './security_policy_pages.ts';
import { accessTokenPages, deployKeysPage, deployTokenPages } from './token_pages.ts';

/** The address that other forges have; the page of the project would take it for a path. */
export const settingsRedirect = redirect('/:id/edit', ({ params }) =>
  pageBelow.project(params.id!, 'settings/general'),
);

export const placeSettingsPages = [
  generalPage,
  featuresPage,
  mergeRequestSettingsPage,
  ...approvalPages,
  ...protectedBranchPages,
  protectedTagsPage,
  ...pushRulePages,
  ...securityPolicyPages,
  ...variablePages,
  ...runnerPages,
  freezePeriodsPage,
  ...protectedEnvironmentPages,
  deployKeysPage,
  ...deployTokenPages,
  ...accessTokenPages,
  ...hookPages,
  errorTrackingSettingsPage,
  ...badgeSettingsPages,
  ...uploadPages,
  ...groupSettingsPages,
  providerLinkPage,
  projectCarefulPage,
  groupCarefulPage,
];
