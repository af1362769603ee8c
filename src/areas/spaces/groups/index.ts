/** The interface of groups to other districts. */
export { createGroup, updateGroup } from './actions.ts';
export { checkMayCreateGroup } from './creation_checks.ts';
export { removeMarkedGroups } from './deletion_actions.ts';
export { GroupDetailForm, GroupForm } from './present.ts';
export { groupSelf, namespaceSettings } from './relation.ts';
export { transferGroup } from './transfer_actions.ts';
