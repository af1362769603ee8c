/** The views of members. */
import { groupPage } from '../../../access/index.ts';
import type { Values } from '../../../http/index.ts';
import {
  type Content,
  chip,
  day,
  type Field,
  filterForm,
  form,
  hidden,
  html,
  pager,
  person,
  refusalIn,
  rows,
  type Seen,
  time,
  type View,
} from '../../../pages/index.ts';
import { roleNames } from '../places/level_rules.ts';
import { type Noun, type Shown, type Tab, tabs, tabsOf } from './definition.ts';

/** The roles that members can have. */
const rolesFor = (noun: Noun) =>
  Object.entries(roleNames)
    .filter(([level]) => noun === 'Group' || level !== '5')
    .map(([value, label]) => ({ value, label }));

/** The fields of a membership. */
function membershipFields({ noun, roles }: Shown, { access_level, expires_at, member_role }: Values): Field[] {
  const own = (member_role as { id: number } | undefined)?.id ?? '';
  return [
    { name: 'access_level', label: 'Role', kind: 'select', value: Number(access_level), options: rolesFor(noun) },
    ...(roles.length > 0
      ? [
          {
            name: 'member_role_id',
            label: 'Custom role',
            kind: 'select',
            value: own,
            options: [{ value: '', label: 'None' }, ...roles],
            is_clearable: true,
          } as const,
        ]
      : []),
    {
      name: 'expires_at',
      label: 'Until',
      kind: 'date',
      value: expires_at === null || expires_at === undefined ? '' : String(expires_at).slice(0, 10),
      is_clearable: true,
    },
  ];
}

const named = (text: unknown): Content => html`<span class="visually-hidden">${String(text)}</span>`;

const bySource: Readonly<Record<string, string>> = {
  ldap: 'Member by a directory',
  saml: 'Member by a sign-in provider',
};

function originView(shown: Shown, id: number, source: unknown): Content {
  const from = shown.origins.get(id);
  if (from === undefined) return bySource[String(source)] ?? 'Direct member';
  if (from === 'invited') return 'Through an invited group';
  return html`Inherited from <a href="${groupPage(from.full_path)}">${from.full_path}</a>`;
}

function memberView(shown: Shown, member: Values, seen: Seen): Content {
  const { id, username, created_at, expires_at, access_level, member_role, membership_source } = member;
  const isDirect = !shown.origins.has(Number(id));
  const isOwn = seen.caller?.id === id;
  const role = (member_role as { name: string } | undefined)?.name;
  return html`<div class="line"><div>${person(member as never)} <span class="soft">@${String(username)}</span>
<div class="soft">${originView(shown, Number(id), membership_source)}, since ${time(created_at as string | null)}</div></div>
${
  shown.mayManage && isDirect
    ? form(seen, 'change', {
        fields: [hidden('user_id', Number(id)), ...membershipFields(shown, member)],
        button: html`Save ${named(username)}`,
        look: 'plain',
        key: Number(id),
      })
    : html`<span>${chip(role ?? roleNames[String(access_level)] ?? String(access_level))}${expires_at !== null && html` <span class="soft">until ${day(String(expires_at))}</span>`}</span>`
}${
  isDirect &&
  (shown.mayManage || isOwn) &&
  form(seen, 'remove', {
    fields: [hidden('user_id', Number(id))],
    button: html`${isOwn ? 'Leave' : 'Remove'} ${named(username)}`,
    look: 'danger',
    key: Number(id),
  })
}</div>`;
}

function requestView(shown: Shown, request: Values, seen: Seen): Content {
  const { id, username, requested_at } = request;
  const fields = [hidden('user_id', Number(id))];
  return html`<div class="line"><div>${person(request as never)} <span class="soft">@${String(username)}, asked ${time(String(requested_at))}</span></div>
${form(seen, 'approve', {
  fields: [
    ...fields,
    { name: 'access_level', label: 'Role', kind: 'select', value: 30, options: rolesFor(shown.noun) },
  ],
  button: html`Approve ${named(username)}`,
  look: 'plain',
  key: Number(id),
})}${form(seen, 'deny', { fields, button: html`Deny ${named(username)}`, look: 'danger', key: Number(id) })}</div>`;
}

function invitationView(shown: Shown, invitation: Values, seen: Seen): Content {
  const { id, invite_email, created_at, created_by_name } = invitation;
  const fields = [hidden('email', String(invite_email))];
  const key = Number(id);
  return html`<div class="line"><div>${String(invite_email)}
<div class="soft">Invited ${time(String(created_at))}${created_by_name !== null && html` by ${String(created_by_name)}`}</div></div>
${form(seen, 'change_invitation', {
  fields: [...fields, ...membershipFields({ ...shown, roles: [] }, invitation)],
  button: html`Save ${named(invite_email)}`,
  look: 'plain',
  key,
})}<div class="actions">${shown.mayInvite && form(seen, 'remind', { fields, button: html`Send again ${named(invite_email)}`, look: 'plain', key })}${form(seen, 'revoke', { fields, button: html`Revoke ${named(invite_email)}`, look: 'danger', key })}</div></div>`;
}

function groupView({ shared }: Shown, group: Values, seen: Seen): Content {
  const { id, full_path } = group;
  const own = shared.find(({ group_id }) => group_id === id);
  return html`<div class="line"><div><a href="${groupPage(String(full_path))}">${String(full_path)}</a>
<div class="soft">${own ? html`Its members are at most ${roleNames[String(own.group_access_level)]}${own.expires_at !== null && html`, until ${day(String(own.expires_at))}`}` : 'Through a group above'}</div></div>
${own && form(seen, 'unshare', { fields: [hidden('group_id', Number(id))], button: html`Stop sharing ${named(full_path)}`, look: 'danger', key: Number(id) })}</div>`;
}

const lines = { members: memberView, access_requests: requestView, invited: invitationView, groups: groupView };

const empty: Readonly<Record<Tab, string>> = {
  members: 'Nobody is found.',
  access_requests: 'Nobody asks for access.',
  invited: 'Nobody is invited.',
  groups: 'It is shared with no group.',
};

const done: Readonly<Record<string, string>> = {
  add: 'They are added, and invited by mail where an address was given.',
  change: 'Saved.',
  remove: 'They are no member any more.',
  approve: 'They are a member now.',
  deny: 'The request is denied.',
  change_invitation: 'Saved.',
  revoke: 'The invitation is revoked.',
  remind: 'The invitation is sent again.',
  share: 'It is shared with the group.',
  unshare: 'It is not shared with the group any more.',
  import: 'The members are added.',
};

function tabsView({ tab: current, counts, mayInvite }: Shown, { path }: Seen): Content {
  const shown = tabs.filter((tab) => mayInvite || tab === 'members' || tab === 'groups');
  const countOf = (tab: Tab) => (tab === 'members' || tab === 'groups' ? undefined : counts[tab]);
  return html`<nav class="tabs" aria-label="Members"><ul>${shown.map((tab) => {
    const count = countOf(tab);
    return html`<li><a href="${`${path}?tab=${tab}`}" ?aria-current="${tab === current && 'page'}">${tabsOf[tab].label}${
      count !== undefined && count > 0 && html` <span class="count">${count}</span>`
    }</a></li>`;
  })}</ul></nav>`;
}

/** A form that opens when it is asked for, or refused. */
const folded = (seen: Seen, name: string, summary: string, shown: Content): Content =>
  shown &&
  html`<details class="new" ?open="${refusalIn(seen, name) !== undefined}"><summary class="button">${summary}</summary>
${shown}</details>`;

function addViews(shown: Shown, seen: Seen): Content {
  if (shown.tab === 'groups')
    return (
      shown.groups.length > 0 &&
      folded(
        seen,
        'share',
        'Share with a group',
        form(seen, 'share', {
          fields: [
            { name: 'group_id', label: 'Group', kind: 'select', options: shown.groups },
            {
              name: 'group_access',
              label: 'Its members are at most',
              kind: 'select',
              value: 30,
              options: rolesFor('Project'),
            },
            { name: 'expires_at', label: 'Until', kind: 'date' },
          ],
          button: 'Share',
        }),
      )
    );
  if (!shown.mayInvite) return undefined;
  const people: Field = {
    name: 'people',
    label: 'Usernames or addresses',
    is_required: true,
    help: 'Separated by commas. Who has no account here is invited by mail.',
    autocomplete: 'off',
    refused_as: ['username', 'user_id', 'email'],
  };
  return [
    folded(
      seen,
      'add',
      'Invite people',
      form(seen, 'add', {
        fields: [people, ...membershipFields(shown, { access_level: 30, expires_at: null })],
        button: 'Invite',
      }),
    ),
    shown.mayManage &&
      shown.noun === 'Project' &&
      shown.tab === 'members' &&
      folded(
        seen,
        'import',
        'Add the members of another project',
        form(seen, 'import', {
          fields: [{ name: 'project_id', label: 'Path of the project', is_required: true }],
          button: 'Add its members',
          look: 'plain',
        }),
      ),
  ];
}

export function membersView(shown: Shown, seen: Seen): View {
  const { noun, id, tab, guidelines, list } = shown;
  const said = seen.refused ? undefined : done[String(seen.query.done)];
  return {
    title: ['Members', id],
    place: { id, kind: noun === 'Group' ? 'group' : 'project', tab: 'members' },
    main: html`${said !== undefined && html`<p class="notice good" role="status">${said}</p>`}${guidelines}${tabsView(shown, seen)}
${addViews(shown, seen)}${
  tab === 'members' && filterForm(seen, [{ name: 'query', label: 'Name, username or address' }], 'Search')
}
${rows(
  list.items.map((item) => lines[tab](shown, item, seen)),
  empty[tab],
)}
${pager(list, seen)}`,
  };
}
