/** What the pages of members show. */
import type { Page as ListPage, Values } from '../../../http/index.ts';
import type { Content, Operation, Option } from '../../../pages/index.ts';

export type Noun = 'Project' | 'Group';

export const tabs = ['members', 'access_requests', 'invited', 'groups'] as const;
export type Tab = (typeof tabs)[number];

export const tabsOf: Readonly<Record<Tab, { label: string; operation(noun: Noun): Operation }>> = {
  members: { label: 'Members', operation: (noun) => `listAll${noun}Members` },
  access_requests: { label: 'Requests', operation: (noun) => `list${noun}AccessRequests` },
  invited: { label: 'Invited', operation: (noun) => `list${noun}Invitations` },
  groups: { label: 'Groups', operation: (noun) => `listInvitedGroupsOf${noun}` },
};

export interface Shown {
  noun: Noun;
  /** The path of the place. */
  id: string;
  tab: Tab;
  guidelines: Content;
  list: ListPage<Values>;
  /** How many wait, for those who may see them. */
  counts: Readonly<Record<'access_requests' | 'invited', number | undefined>>;
  mayManage: boolean;
  mayInvite: boolean;
  /** Custom roles. */
  roles: readonly Option[];
  /** Where members that are not direct ones come from. */
  origins: ReadonlyMap<number, { full_path: string } | 'invited'>;
  /** The groups that it can be shared with. */
  groups: readonly Option[];
  /** The groups that it is shared with, and with which role. */
  shared: readonly Values[];
}
