/** Code shared by issues, epics and merge requests: effects of changes, numbering, participants and time tracking. */
export {
  changedColumns,
  recordEffects,
  taskColumns,
  writeAssignees,
  writeLabels,
  writeReviewers,
} from './change_actions.ts';
export { ownOperations, timeOperations, unlessRefused } from './command_actions.ts';
export { insertIssuable } from './creation_actions.ts';
export type { Change, IssuableState, Noun, NounWith } from './definition.ts';
export {
  among,
  type FilterTable,
  filtersOf,
  idOr,
  not,
  notReferredTo,
  reactedTo,
  referredTo,
  type SeenBy,
  sharedExclusions,
  sharedFilters,
  valued,
  wordOf,
} from './filters.ts';
export {
  hooksForIssue,
  hooksForMergeRequest,
  sampleIssue,
  sampleMergeRequest,
  tellOfIssue,
  tellOfMergeRequest,
} from './hook_actions.ts';
export { issueHook, mergeRequestHook } from './hook_queries.ts';
export { addLink, createLink, removeLink } from './links/actions.ts';
export { LinkType, linkedFields, linkRefusals, NewLinkType } from './links/parameters.ts';
export { type LinkRow, linkedWith, linkOf } from './links/queries.ts';
export { itemsAt, linksOf } from './links/relation.ts';
export {
  authorFilters,
  excludedDescription,
  exclusiveRules,
  filtersWith,
  IdOr,
  MilestoneTitle,
  reactionFilter,
  timeFilters,
} from './list_parameters.ts';
export { countByState } from './list_queries.ts';
export { issuableMail } from './mail_queries.ts';
export type { NamesAsked } from './name_queries.ts';
export { byMilestone, milestoneFilters, namesAsked, opposite, peopleIn, scopeFilter } from './people_filters.ts';
export { peopleRoutes } from './people_routes.ts';
export { distance, firstPosition, type Order, reorder } from './position_actions.ts';
export { isSubscribed } from './queries.ts';
export {
  countDiscussion,
  countWork,
  discussionColumns,
  issuableParts,
  listColumns,
  timelogs,
  workColumns,
} from './relation.ts';
export { assignedText, noMatchText, peopleReasons, referenceTo } from './rules.ts';
export { isInScope, type ListScope, maximumNamed, visibleProjects } from './scope_queries.ts';
export { type Listable, type Listing, type SeenInList, selectionOf } from './selection_queries.ts';
export { byValue, sharedOrders } from './shared_order_rules.ts';
export { presentTimeStats, TimeStats } from './time/present.ts';
export { timeRoutes } from './time/routes.ts';
export { notificationPages } from './unsubscribe_pages.ts';
