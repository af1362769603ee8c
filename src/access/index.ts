/** Who calls, and what they may: the rules that endpoints name. */
export { authenticate, callerOfToken, callerOfTokenNumbered, commitEmailOf } from './authentication.ts';
export { refreshAuthorizations, type Subtree, subtreeOf } from './authorizations.ts';
export { basicCaller, basicPassword, basicRefused, callerOfBasic, gitScopes } from './basic.ts';
export {
  awardedEpicReader,
  awardedEpicVisible,
  epicByIdReader,
  epicByIdVisible,
  epicGroupRole,
  epicReader,
  epicRemover,
  epicRole,
  epicVisible,
  type GrantedEpic,
  isEpicOpenTo,
  isVisibleEpic,
  mayReadEpic,
} from './epics.ts';
export {
  belongsToGroup,
  type Group,
  groupFor,
  groupForAdmin,
  groupLevel,
  groupRole,
  groupVisible,
  isMemberOfGroup,
  isVisibleGroup,
  mayReadGroup,
  visibleGroup,
} from './groups.ts';
export { admin, anyone, signedIn } from './instance.ts';
export { issuesVisible } from './issue_lists.ts';
export {
  awardedIssueReader,
  awardedIssueVisible,
  type GrantedIssue,
  issueEditor,
  issueFor,
  issueForAdmin,
  issueReader,
  issueRole,
  issueVisible,
  isVisibleIssue,
  mayReadIssue,
  namedIssueReader,
  namedIssueVisible,
} from './issues.ts';
export { levels, type Role } from './levels.ts';
export { countRequest, forgetOldCounts, isWithin } from './limits.ts';
export { isPassword, passwordDigest } from './passwords.ts';
export { holds, type Permission, permissions, rolesCount, type Standing, unusedPermissions } from './permissions.ts';
export { type PlanningPlace, planningRole } from './planning.ts';
export { currentPlan, planForAnonymous, planInForce } from './plans.ts';
export {
  codeDownloader,
  codeReader,
  codeWriter,
  type Feature,
  isMemberOfProject,
  isVisibleProject,
  type MaybeCaller,
  mayDownloadCode,
  mayRead,
  mayReadCode,
  mayUse,
  movedProject,
  type Project,
  projectFor,
  projectForAdmin,
  projectLevel,
  projectPermissions,
  projectRole,
  projectState,
  projectVisible,
  visibleProject,
} from './projects.ts';
export { isReaderOf, readsInternalNotesOn } from './readers.ts';
export { userByPassword } from './sign_in.ts';
export { isGroup, isListedGroup, isListedProject } from './states.ts';
export { isTeamMember, teamMember } from './team.ts';
export { newTokenValue, tokenDigest, tokenScopes } from './tokens.ts';
export { lockTree, lockTrees } from './tree_locks.ts';
