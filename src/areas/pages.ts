/** All pages, and what is around them. */
import { groupPage } from '../access/index.ts';
import { inAddress } from '../foundation/addresses.ts';
import type { Doorway, Moved, Services } from '../http/index.ts';
import { type AnyPage, type PageCall, type PagesOptions, pageDoorway } from '../pages/index.ts';
import { documented, Todo } from './index.ts';
import { renewedCookie } from './people/sessions/index.ts';
import { activityPage } from './web/activity/index.ts';
import { adminPages } from './web/admin/index.ts';
import { apiDocsPages } from './web/api_docs/index.ts';
import { auditEventPages, streamingPages } from './web/audit_events/index.ts';
import { blamePageList } from './web/blame/index.ts';
import { boardPages } from './web/boards/index.ts';
import { complianceStatusPages, frameworkPages } from './web/compliance/index.ts';
import { deploymentPages } from './web/deployments/index.ts';
import { errorPages } from './web/errors/index.ts';
import { badgePages, codeFactPages, instanceFactPages } from './web/facts/index.ts';
import { feedPages } from './web/feeds/index.ts';
import { fileEditingPages } from './web/file_editing/index.ts';
import { groupPageOf, newGroupPage, newProjectPage, personPage, personRedirect } from './web/groups/index.ts';
import { historyGraphPages } from './web/history_graphs/index.ts';
import { homePages } from './web/home/index.ts';
import { dismissalPage, houseOf, manifestPage, sectionsOf } from './web/house/index.ts';
import { deletionPages } from './web/issuables/index.ts';
import {
  editIssuePage,
  issueListPages,
  issuePage,
  moveIssuePage,
  newIssuePage,
  workItemPage,
} from './web/issues/index.ts';
import { memberPages } from './web/members/index.ts';
import {
  editMergeRequestPage,
  mergeRequestCommitsPage,
  mergeRequestConflictsPage,
  mergeRequestDiffPage,
  mergeRequestDiffsPage,
  mergeRequestListPages,
  mergeRequestPage,
  mergeRequestPipelinesPage,
  mergeRequestRulesPage,
  newMergeRequestPage,
  relatedPage,
} from './web/merge_requests/index.ts';
import { applicationPages, authorizePage, devicePage } from './web/oauth/index.ts';
import { pickPages } from './web/picking/index.ts';
import { placeSettingsPages, settingsRedirect } from './web/places/index.ts';
import { planningPages } from './web/planning/index.ts';
import { projectListPages } from './web/project_lists/index.ts';
import { releasePages } from './web/releases/index.ts';
import { otherAddress, repositoryPages } from './web/repository/index.ts';
import { searchPage } from './web/search/index.ts';
import { securityPages } from './web/security/index.ts';
import {
  emailsPage,
  gpgKeysPage,
  mirrorSettingsPage,
  notificationsPage,
  placeholderProposalsPage,
  placeNotificationPages,
  preferencesPage,
  profilePage,
  profileRedirect,
  sshKeyRedirect,
  sshKeysPage,
  tokenRedirect,
  tokensPage,
} from './web/settings/index.ts';
import {
  changePasswordPage,
  choosePasswordPage,
  confirmPasswordPage,
  forgottenPasswordPage,
  identitiesPage,
  providerPages,
  secondFactorSignInPage,
  secondFactorsPage,
  secondFactorsRedirect,
  sessionsPage,
  signInPage,
  signOutPage,
  signUpPage,
} from './web/sign_in/index.ts';
import { snippetPages } from './web/snippets/index.ts';
import { todosPage } from './web/todos/index.ts';
import { wikiPages } from './web/wikis/index.ts';
import { previewOf, writingPages } from './web/writing/index.ts';

/** Of two that match an address, the first one counts. */
export const pages: readonly AnyPage[] = [
  ...homePages(Todo),
  ...apiDocsPages(documented),
  ...feedPages,
  // Projects have longer paths.
  personPage,
  signInPage,
  authorizePage,
  devicePage,
  ...applicationPages,
  ...frameworkPages,
  ...complianceStatusPages,
  signUpPage,
  signOutPage,
  confirmPasswordPage,
  forgottenPasswordPage,
  choosePasswordPage,
  changePasswordPage,
  secondFactorSignInPage,
  secondFactorsPage,
  secondFactorsRedirect,
  sessionsPage,
  identitiesPage,
  ...providerPages,
  preferencesPage,
  // Numbers of projects and paths of groups stand in the same place.
  newProjectPage,
  newGroupPage,
  // Commits have addresses below theirs.
  ...pickPages,
  settingsRedirect,
  ...repositoryPages,
  ...fileEditingPages,
  ...blamePageList,
  ...projectListPages,
  activityPage,
  ...historyGraphPages,
  ...issueListPages,
  newIssuePage,
  editIssuePage,
  moveIssuePage,
  ...deletionPages,
  issuePage,
  workItemPage,
  ...boardPages,
  ...mergeRequestListPages,
  newMergeRequestPage,
  editMergeRequestPage,
  mergeRequestConflictsPage,
  mergeRequestCommitsPage,
  mergeRequestPipelinesPage,
  mergeRequestRulesPage,
  relatedPage,
  mergeRequestDiffsPage,
  mergeRequestDiffPage,
  mergeRequestPage,
  todosPage(Todo),
  searchPage,
  dismissalPage,
  manifestPage,
  ...writingPages,
  ...wikiPages,
  profilePage,
  profileRedirect,
  emailsPage,
  gpgKeysPage,
  notificationsPage,
  ...placeNotificationPages,
  sshKeysPage,
  placeholderProposalsPage,
  sshKeyRedirect,
  tokensPage,
  tokenRedirect,
  mirrorSettingsPage,
  ...placeSettingsPages,
  groupPageOf,
  personRedirect,
  ...planningPages,
  ...badgePages,
  ...errorPages,
  ...codeFactPages,
  ...securityPages,
  ...snippetPages,
  ...releasePages,
  ...deploymentPages,
  ...memberPages,
  ...auditEventPages,
  ...streamingPages,
  ...adminPages,
  ...instanceFactPages,
];

async function pathOf({ db }: Services, { path }: Moved): Promise<string> {
  const [, kind, id] = path.split('/');
  const table = kind === 'projects' ? 'projects' : 'namespaces';
  const { full_path } = await db
    .selectFrom(table)
    .select('full_path')
    .where('id', '=', Number(id))
    .executeTakeFirstOrThrow();
  return inAddress(full_path);
}

/** The path of a group leads to its page. */
async function otherForm(call: PageCall): Promise<string | undefined> {
  const { id, username } = call.params;
  const group = id ?? username;
  const isPath = group !== undefined && `/${inAddress(group)}` === call.path;
  return isPath && (await call.may('getGroup', { id: group })) ? groupPage(group) : otherAddress(call);
}

export const pagesDoorway = (
  options: Omit<
    PagesOptions,
    'pages' | 'sectionsOf' | 'houseOf' | 'previewOf' | 'otherForm' | 'pathOf' | 'renewedCookie'
  >,
): Doorway => pageDoorway({ ...options, pages, sectionsOf, houseOf, previewOf, otherForm, pathOf, renewedCookie });
