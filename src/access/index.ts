/** Authentication, and the access rules that endpoints name. */

export { authenticate, callerInJob, callerOfTokenNumbered } from './authentication.ts';
export { refreshAuthorizations, type Subtree, subtreeOf } from './authorizations.ts';
export { basicCaller, basicPassword, basicRefused, callerOfBasic, gitScopes, outsideOf } from './basic.ts';
export {
  browserCookie,
  type Device,
  deviceOf,
  isKnownTo,
  keptForm,
  knownTo,
  newBrowser,
  type WaitingForm,
  waitingForm,
} from './browsers.ts';
export { commitEmailOf, isPrimaryProved, refuseInactive, type User, userColumns } from './callers.ts';
export { type Changing, withChange } from './changes.ts';
export { addressRefused, both, forgetRanges, isReachableProject, type Reach, reachOf } from './client_addresses.ts';
export { branchWriter, hasOpenBranch, isCollaborator, openCollaborations } from './collaboration.ts';
export { commitKind, readsCode } from './commits.ts';
export { cookieOf, cookieWith } from './cookies.ts';
export { costlyPagesNeedSignIn } from './costly_pages.ts';
export {
  epicGroupRole,
  epicKind,
  epicReader,
  epicRemover,
  epicRole,
  epicVisible,
  isVisibleEpic,
  theEpic,
} from './epics.ts';
export { countsToday, hasEnded, invitationLifetime_days, isExpiredDeployToken, isOpenInvitation } from './expiry.ts';
export { isGroupOfGroup, isGroupOfProject, knownIn, knownInGroup, levelDescription } from './grantees.ts';
export { endGrantsAfterMove, endGrantsOfGroups } from './grants.ts';
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
  notTopLevelText,
  refuseReadOnlyGroup,
  topLevelOwner,
  visibleGroup,
} from './groups.ts';
export { admin, anyone, type MaybeCaller, type Reading, signedIn } from './instance.ts';
export { isInternal, isUsableAccount } from './internal_users.ts';
export {
  checkMayUpdateIssue,
  type GrantedIssue,
  isOwnIssue,
  issueEditor,
  issueFor,
  issueForAdmin,
  issueKind,
  issueReader,
  issueRole,
  issuesVisible,
  issueTracker,
  issueVisible,
  isVisibleIssue,
  mayReadIssue,
  namedIssueReader,
  theIssue,
} from './issues.ts';
export { mayJobPush } from './job_token_scope.ts';
export { callerOfJobToken, isJobToken, newJobToken } from './job_tokens.ts';
export { isLastingOwner } from './lasting_owners.ts';
export { GroupLevel, groupLevels, levels, ProjectLevel, type Role } from './levels.ts';
export {
  countGuess,
  countRequest,
  forgetOldCounts,
  isWithin,
  leftAfter,
  refuseTooOften,
  takeBack,
  tooManyAttempts,
  tooManyAttemptsText,
  tooOften,
  tooOftenText,
} from './limits.ts';
export {
  hasMergeRequests,
  isApprover,
  mayApproveMergeRequests,
  mayReadMergeRequests,
  mayUpdateMergeRequest,
  mergeRequestEditor,
  mergeRequestKind,
  mergeRequestReader,
  mergeRequestRole,
  mergeRequestsReader,
  mergeRequestsVisible,
  mergeRequestTracker,
  mergeRequestVisible,
  theMergeRequest,
} from './merge_requests.ts';
export {
  groupOf,
  isAbout,
  isFollowed,
  isIssuable,
  isReaderOf,
  issuableKinds,
  noteableColumns,
  noteableKinds,
  noteableOf,
  projectOf,
  readsInternalNotesOn,
  rowOf,
  rowsWithPlaces,
  storedKinds,
} from './noteable_kinds.ts';
export type {
  CommitKind,
  DiscussedCommit,
  Followed,
  Granted,
  Issuable,
  IssuableColumn,
  IssuableKind,
  Noteable,
  NoteableKind,
  NumberedIssuable,
  OnIssuable,
  OnNoteable,
  PlacedIssuable,
  Stored,
  StoredColumn,
  StoredKind,
} from './noteables.ts';
export { type Owner, ownerRole } from './owners.ts';
export {
  groupMembersPage,
  groupPage,
  jobPage,
  pageBelow,
  projectMembersPage,
  projectPage,
  proposalsPage,
  uploadsPath,
  userPage,
} from './pages.ts';
export { passwordDigest } from './passwords.ts';
export { type Eligibility, holds, type Permission, permissions, rolesCount } from './permissions.ts';
export { type PlanningParent, planningRole } from './planning.ts';
export { currentPlan, licensedTrial, planForAnonymous, planInForce } from './plans.ts';
export { isUsable } from './project_readers.ts';
export {
  codeDownloader,
  codeReader,
  codeWriter,
  isDownloadable,
  isMemberOfProject,
  isVisibleProject,
  mayDownloadCode,
  mayRead,
  mayReadCode,
  mayUse,
  movedProject,
  type Project,
  projectFor,
  projectForAdmin,
  projectIsBeingFilled,
  projectLevel,
  projectPermissions,
  projectRole,
  projectState,
  projectVisible,
  readsInternalNotesIn,
  reasonForReadOnly,
  visibleProject,
} from './projects.ts';
export { isKnownProject, isUserOfProject } from './readers.ts';
export { recipientFor } from './recipients.ts';
export { placeOfRegistration, type RegistrationPlace, registrationToken } from './registration_tokens.ts';
export { mayReadReleases, releaseCodeReader, releaseReader, releaseWriter } from './releases.ts';
export { keptWithRights, rightsVersion } from './rights_version.ts';
export { isClosedToInstanceRunners, takesInstanceRunners } from './runners.ts';
export { hasSecondFactor, secondFactorGrace_hours } from './second_factors.ts';
export {
  cookieFor,
  isLasting,
  readerOf,
  sessionCookie,
  sessionHours,
  type Visitor,
  visitorOf,
  visitorOfCookie,
  visitorWithToken,
} from './sessions.ts';
export { countAttempt, type Outside, reactivated, recordSignIn, takesPasswords, userByPassword } from './sign_in.ts';
export {
  type GrantedSnippet,
  internalUser,
  isReadableInProject,
  isVisibleSnippet,
  mayChangeSnippet,
  mayReadSnippet,
  projectSnippetEditor,
  projectSnippetForAdmin,
  projectSnippetVisible,
  type Snippet,
  snippetEditor,
  snippetFor,
  snippetForAdmin,
  snippetKind,
  snippetVisible,
} from './snippets.ts';
export { callerOfSshKey, sshKeyOf } from './ssh_keys.ts';
export { isGroup, isListedGroup, isListedProject, markedText, refuseMarked } from './states.ts';
export { isTeamMember, teamMember } from './team.ts';
export { newTokenValue, tokenDigest, tokenScopes } from './tokens.ts';
export { lockPlace, lockTree, lockTrees } from './tree_locks.ts';
export { isMoreVisible, lesserVisibility, type VisibilityName } from './visibility.ts';
export { type WikiPlace, type WikiRights, wikiAt, wikiReader, wikiRights, wikiRole } from './wikis.ts';
