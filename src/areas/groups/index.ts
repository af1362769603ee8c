/** What other areas may use of groups. */
export { createGroup, type GroupChanges, type NewGroup, updateGroup } from './actions.ts';
export { removeGroup, removeMarkedGroups } from './deletion.ts';
export { groupReply } from './detail.ts';
export { groupFilters, groupListInput, orderGroups, searchGroups } from './filters.ts';
export { GroupDetailForm, GroupForm, type GroupRow, presentGroup } from './present.ts';
export { groupRows, listedGroups } from './queries.ts';
export { transferGroup } from './transfer.ts';
