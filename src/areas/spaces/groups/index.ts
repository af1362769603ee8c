/** What other areas may use of groups. */
export { createGroup, updateGroup } from './actions.ts';
export { checkMayCreateGroup } from './creation_checks.ts';
export { removeMarkedGroups } from './deletion_actions.ts';
export { groupReply } from './detail_present.ts';
export { groupFilters, groupListInput, orderGroups, searchGroups } from './filters.ts';
export { GroupDetailForm, GroupForm, type GroupRow, presentGroup } from './present.ts';
export { groupRows, listedGroups } from './queries.ts';
export { groupSelf, namespaceSettings } from './relation.ts';
export { transferGroup } from './transfer_actions.ts';
