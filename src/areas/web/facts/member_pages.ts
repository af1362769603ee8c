/** The members of groups and projects, with access requests and invitations. */
import { inAddress } from '../../../foundation/addresses.ts';
import type { Values } from '../../../http/index.ts';
import { type Content, chip, html, person, time } from '../../../pages/index.ts';
import { guidelinesOf } from '../house/queries.ts';
import { factPage } from './definition.ts';

const levelNames: Readonly<Record<number, string>> = {
  5: 'Minimal access',
  10: 'Guest',
  15: 'Planner',
  20: 'Reporter',
  30: 'Developer',
  40: 'Maintainer',
  50: 'Owner',
};

const levelOf = (level: unknown): string => levelNames[Number(level)] ?? String(level);

const personOf = (user: Values): Content =>
  html`${person(user as unknown as { username: string; name: string })} <span class="soft">@${String(user.username)}</span>`;

const lists = {
  members: ({ access_level, created_at, expires_at, ...user }: Values): Content =>
    html`${personOf(user)} ${chip(levelOf(access_level))}
<div class="soft">Joined ${time(created_at as string | null)}${expires_at !== null && html`, until ${String(expires_at)}`}</div>`,
  requests: ({ requested_at, ...user }: Values): Content =>
    html`${personOf(user)} <div class="soft">Asked ${time(String(requested_at))}</div>`,
  invitations: ({ invite_email, access_level, created_at }: Values): Content =>
    html`${String(invite_email)} ${chip(levelOf(access_level))}
<div class="soft">Invited ${time(String(created_at))}</div>`,
  groups: ({ full_path, full_name, name }: Values): Content =>
    html`<a href="${`/groups/${inAddress(String(full_path))}`}">${String(full_name ?? name)}</a>`,
};

/** All lists are shown, whatever the `tab` in the link. */
const pageFor = (noun: 'Project' | 'Group') =>
  factPage(noun === 'Group' ? '/groups/:id/-/group_members' : '/:id/-/project_members', {
    title: () => 'Members',
    tab: 'members',
    intro: (call) => guidelinesOf(call, 'member_guidelines'),
    lists: [
      { heading: 'Members', operation: `listAll${noun}Members`, line: lists.members },
      { heading: 'Access requests', operation: `list${noun}AccessRequests`, line: lists.requests },
      { heading: 'Invitations', operation: `list${noun}Invitations`, line: lists.invitations },
      { heading: 'Invited groups', operation: `listInvitedGroupsOf${noun}`, line: lists.groups },
    ],
  });

export const memberPages = [pageFor('Project'), pageFor('Group')];
