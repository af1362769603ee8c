/** The page of a group: its subgroups and its projects. */
import { groupPage, visibleGroup } from '../../../access/index.ts';
import { chip, form, html, type PageCall, page, pager, pagingOf, rows } from '../../../pages/index.ts';
import { checkMayCreateGroup, GroupDetailForm, GroupForm } from '../../spaces/groups/index.ts';
import { Member } from '../../spaces/members/index.ts';
import { mayCreateIn, namespaceFor, ProjectWithAccessForm } from '../../spaces/projects/index.ts';
import { projectRows } from './views.ts';

/** What the caller may create in a group. */
async function beginnings({ services: { db }, caller, params, perhaps }: PageCall, group_id: number) {
  if (!caller) return { group: false, project: false };
  const namespace = await namespaceFor(db, caller, group_id);
  const parent = await visibleGroup(db, caller, params.id!);
  const group = await perhaps(checkMayCreateGroup(db, caller, parent).then(() => true));
  return { group: group === true, project: namespace !== undefined && mayCreateIn(caller, namespace) };
}

export const groupPageOf = page('/groups/:id', {
  async load(call) {
    const { one, list, perhaps, query, caller } = call;
    const group = await one(GroupDetailForm, 'getGroup', { with_projects: false });
    const [subgroups, projects, membership, begins] = await Promise.all([
      list(GroupForm, 'listSubgroups', pagingOf({ query }, 'subgroups')),
      list(ProjectWithAccessForm, 'listGroupProjects', { ...pagingOf({ query }), order_by: 'last_activity_at' }),
      caller && perhaps(one(Member, 'getEffectiveGroupMember', { user_id: caller.id })),
      beginnings(call, group.id),
    ]);
    return { group, subgroups, projects, membership, begins };
  },
  forms: { request_access: { runs: 'createGroupAccessRequest', next: (_reply, { path }) => `${path}?requested=1` } },
  view: ({ group, subgroups, projects, membership, begins }, seen) => ({
    title: [group.name],
    place: { id: group.full_path, kind: 'group', tab: 'group' },
    ...(group.visibility === 'public' && { is_public: true as const }),
    main: html`${seen.query.requested !== undefined && html`<p class="notice" role="status">You have asked for access. The owners of the group decide.</p>`}
${group.marked_for_deletion_on && html`<p class="notice">This group will be deleted on ${group.marked_for_deletion_on}.</p>`}
<p>${chip(group.visibility)} ${group.description}</p>
<div class="actions">${begins.project && html`<a class="button primary" href="${`/projects/new?namespace_id=${group.id}`}">New project</a>`}
${begins.group && html`<a class="button" href="${`/groups/new?parent_id=${group.id}`}">New subgroup</a>`}
${!membership && group.request_access_enabled && form(seen, 'request_access', { button: 'Request access', look: 'plain' })}</div>
<h2>Subgroups</h2>
${rows(
  subgroups.items.map(
    (subgroup) =>
      html`<a class="title" href="${groupPage(subgroup.full_path)}">${subgroup.name}</a> ${chip(subgroup.visibility)}
<div class="soft">${subgroup.description}</div>`,
  ),
  'There are no subgroups that you may see.',
)}
${pager(subgroups, seen, 'subgroups')}
<h2>Projects</h2>
${projectRows(projects, seen, 'There are no projects that you may see.')}`,
  }),
});
