/** The members of projects and groups: who belongs to them and why, requests, invitations and invited groups (docs/reference/pages.md#members). */
import type { Subtree } from '../../../access/index.ts';
import { ApiError, forbidden, invalid, reaches, reasonsOf, type Values } from '../../../http/index.ts';
import { type Option, type Page, type PageCall, type PageForm, page, pagingOf, textIn } from '../../../pages/index.ts';
import { remindNow } from '../../spaces/invitations/index.ts';
import { originsOf } from '../../spaces/members/index.ts';
import { reading } from '../declared/form_present.ts';
import { guidelinesOf } from '../house/queries.ts';
import type { Noun, Shown, Tab } from './definition.ts';
import { tabs, tabsOf } from './definition.ts';
import { membersView } from './views.ts';

/** The most custom roles that are offered. */
const offered = 100;

/** The custom roles that the caller may give: those of the group at the top, or of the server. */
async function customRoles(call: PageCall): Promise<Option[]> {
  if (!call.caller || !reaches(call.caller.plan, 'ultimate')) return [];
  const top = call.params.id!.split('/', 1)[0]!;
  const lists = await Promise.all([
    call.perhaps(call.described('listGroupMemberRoles', { id: top, per_page: offered })),
    call.perhaps(call.described('listInstanceMemberRoles', { per_page: offered })),
  ]);
  const roles = lists.flatMap((list) => ((list?.reply as { items?: Values[] } | undefined)?.items ?? []) as Values[]);
  return roles.map(({ id, name, base_access_level }) => ({
    value: Number(id),
    label: `${name} (from ${base_access_level})`,
  }));
}

const tabIn = ({ query }: PageCall): Tab => tabs.find((tab) => tab === query.tab) ?? 'members';

/** How many there are of what waits, for those who may see it. */
async function countOf(call: PageCall, operation: Parameters<PageCall['described']>[0]): Promise<number | undefined> {
  const found = await call.perhaps(call.described(operation, { per_page: 1 }));
  return found && (found.reply as { total?: number }).total;
}

async function load(noun: Noun, call: PageCall): Promise<Shown> {
  const place = await reading(`get${noun}`, noun === 'Group' ? { with_projects: false } : {})(call);
  const tab = tabIn(call);
  const { operation } = tabsOf[tab];
  const name = operation(noun);
  if (tab !== 'members' && !(await call.may(name))) throw forbidden();
  const filters = tab === 'members' && textIn(call.query, 'query') ? { query: textIn(call.query, 'query') } : {};
  const [guidelines, list, requests, invitations, mayManage, mayInvite, roles] = await Promise.all([
    guidelinesOf(call, 'member_guidelines'),
    call.perhaps(call.described(name, { ...pagingOf(call), ...filters })),
    countOf(call, `list${noun}AccessRequests`),
    countOf(call, `list${noun}Invitations`),
    call.may(`create${noun}Members`),
    call.may(`create${noun}Invitations`),
    customRoles(call),
  ]);
  const items = (list?.reply ?? { items: [], page: 1, per_page: 20, has_more: false }) as Shown['list'];
  const id = Number(place.id);
  const subtree: Subtree = noun === 'Group' ? { group_id: id } : { project_id: id };
  const ids = tab === 'members' ? items.items.map((each) => Number(each.id)) : [];
  return {
    ...{ noun, tab, guidelines, list: items, mayManage, mayInvite, roles },
    id: call.params.id!,
    counts: { access_requests: requests, invited: invitations },
    origins: ids.length === 0 ? new Map() : await originsOf(call.services.db, subtree, ids),
    groups: tab === 'groups' && mayManage ? await shareable(noun, call) : [],
    shared: (place.shared_with_groups ?? []) as Values[],
  };
}

/** The groups that the place can be shared with. */
async function shareable(noun: Noun, call: PageCall): Promise<Option[]> {
  const operation = noun === 'Project' ? 'listProjectShareLocations' : 'listGroups';
  const found = await call.perhaps(call.described(operation, { per_page: offered }));
  const groups = ((found?.reply as { items?: Values[] } | undefined)?.items ?? []) as Values[];
  return groups
    .filter(({ full_path }) => full_path !== call.params.id)
    .map(({ id, full_path }) => ({ value: Number(id), label: String(full_path) }));
}

/** The reasons of a refusal, at the field for the people. */
function atPeople(error: unknown): never {
  if (!(error instanceof ApiError) || error.status >= 500 || error.status === 403) throw error;
  const { access_level, expires_at, member_role_id, ...others } = reasonsOf(error);
  const known = { access_level, expires_at, member_role_id };
  const own = Object.fromEntries(Object.entries(known).filter(([, reasons]) => reasons !== undefined));
  const rest = Object.values(others).flat();
  throw rest.length > 0 ? invalid({ ...own, people: rest }) : error;
}

/** The refusal of a project whose members cannot be added, at its field. */
function atProject(error: unknown): never {
  if (!(error instanceof ApiError) || error.status !== 404) throw error;
  throw invalid({ project_id: ['is not found'] });
}

/** Adds people by their usernames, and invites addresses. */
async function addPeople(noun: Noun, call: PageCall, fields: Values): Promise<string> {
  const people = (textIn(fields, 'people') ?? '')
    .split(/[\s,;]+/)
    .map((each) => each.replace(/^@/, ''))
    .filter((each) => each !== '');
  if (people.length === 0) throw invalid({ people: ['is empty'] });
  const [emails, usernames] = [
    people.filter((each) => each.includes('@')),
    people.filter((each) => !each.includes('@')),
  ];
  const given = Object.fromEntries(
    ['access_level', 'member_role_id', 'expires_at'].flatMap((name) =>
      textIn(fields, name) === undefined ? [] : [[name, textIn(fields, name)]],
    ),
  );
  if (usernames.length > 0)
    await call.described(`create${noun}Members`, { ...given, username: usernames }).catch(atPeople);
  if (emails.length > 0) {
    const { reply } = await call.described(`create${noun}Invitations`, { ...given, email: emails }).catch(atPeople);
    const { status, message } = reply as { status: string; message?: Record<string, string> };
    if (status === 'error')
      throw invalid({ people: Object.entries(message ?? {}).map(([who, why]) => `${who}: ${why}`) });
  }
  return `${call.path}?done=add${emails.length > 0 ? '&tab=invited' : ''}`;
}

/** Sends an invitation again. */
async function remind(noun: Noun, call: PageCall, fields: Values): Promise<string> {
  const email = textIn(fields, 'email') ?? '';
  const { reply } = await call.described(`list${noun}Invitations`, { query: email });
  const { items } = reply as { items: Values[] };
  const invitation = items.find(({ invite_email }) => String(invite_email).toLowerCase() === email.toLowerCase());
  if (!invitation) throw invalid({ email: ['is not invited any more'] });
  await remindNow(call.services.db, Number(invitation.id));
  return `${call.path}?tab=invited&done=remind`;
}

const at =
  (tab: Tab, form: string) =>
  (_reply: never, { path }: PageCall) =>
    `${path}?tab=${tab}&done=${form}`;

function formsFor(noun: Noun): Record<string, PageForm> {
  const { shares, unshares } = {
    Project: { shares: 'shareProject', unshares: 'unshareProject' },
    Group: { shares: 'shareGroup', unshares: 'unshareGroup' },
  }[noun] as { shares: 'shareProject'; unshares: 'unshareProject' };
  return {
    add: { act: (call, fields) => addPeople(noun, call, fields) },
    change: { runs: `update${noun}Member`, next: at('members', 'change') },
    remove: { runs: `delete${noun}Member`, next: at('members', 'remove') },
    approve: { runs: `approve${noun}AccessRequest`, next: at('access_requests', 'approve') },
    deny: { runs: `deny${noun}AccessRequest`, next: at('access_requests', 'deny') },
    change_invitation: { runs: `update${noun}Invitation`, next: at('invited', 'change_invitation') },
    revoke: { runs: `revoke${noun}Invitation`, next: at('invited', 'revoke') },
    remind: { act: (call, fields) => remind(noun, call, fields) },
    share: { runs: shares, next: at('groups', 'share') },
    unshare: { runs: unshares, next: at('groups', 'unshare') },
    import: {
      async act(call, fields) {
        await call
          .described('importProjectMembers', { project_id: textIn(fields, 'project_id') ?? '' })
          .catch(atProject);
        return at('members', 'import')(undefined as never, call);
      },
    },
  };
}

const pageFor = (noun: Noun): Page<Shown> =>
  page(noun === 'Group' ? '/groups/:id/-/group_members' : '/:id/-/project_members', {
    load: (call) => load(noun, call),
    forms: noun === 'Group' ? withoutImport(formsFor(noun)) : formsFor(noun),
    view: membersView,
  });

/** Members are imported into projects only. */
const withoutImport = ({ import: _import, ...forms }: Record<string, PageForm>): Record<string, PageForm> => forms;

export const memberPages = [pageFor('Project'), pageFor('Group')];
