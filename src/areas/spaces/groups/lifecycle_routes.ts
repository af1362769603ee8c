/** The life of a group after its creation: archived, moved, marked for deletion, restored. */
import { sql } from 'kysely';
import { Type } from 'typebox';
import { groupForAdmin, groupLevel, groupRole, levels, visibleGroup, visibleProject } from '../../../access/index.ts';
import {
  accepted,
  containing,
  del,
  get,
  Id,
  one,
  optional,
  pageOf,
  paginate,
  paging,
  post,
  withStatus,
} from '../../../http/index.ts';
import { namespaceFullName, PublicGroupDetails, presentPublicGroup } from '../../people/namespaces/index.ts';
import { transferProject } from '../projects/index.ts';
import { setArchived } from './archive_actions.ts';
import { endGroup, restoreGroup } from './deletion_actions.ts';
import { groupReply } from './detail_present.ts';
import { GroupDetailForm } from './present.ts';
import { checkMayCreate } from './routes.ts';
import { transferGroup } from './transfer_actions.ts';

const owner = groupRole('owner');
/** A permission removes only what stands in another group. */
const remover = groupRole('owner', { permission: 'remove_group' });

const archiving = (verb: 'archive' | 'unarchive', summary: string) =>
  post(`/groups/:id/${verb}`, {
    summary,
    access: owner,
    returns: withStatus(200, one(GroupDetailForm)),
    handle: async ({ caller, group, ...services }) => {
      await setArchived(services.db, group, verb === 'archive');
      return groupReply(services, caller, group.id);
    },
  });

export const groupLifecycleRoutes = [
  del('/groups/:id', {
    summary: 'Mark a group for deletion, or remove a marked subgroup without waiting',
    access: remover,
    input: {
      permanently_remove: Type.Boolean({ default: false }),
      full_path: optional(Type.String({ description: 'With `permanently_remove`: the path, to show that it is meant' })),
    },
    returns: accepted,
    handle: ({ db, group, input, unmodified_since }) => endGroup(db, group, { ...input, unmodified_since }),
  }),
  post('/groups/:id/restore', {
    summary: 'Take the mark for deletion from a group',
    access: remover,
    returns: one(GroupDetailForm),
    handle: async ({ caller, group, ...services }) => {
      await restoreGroup(services.db, group.id);
      return groupReply(services, caller, group.id);
    },
  }),
  archiving('archive', 'Archive a group: what is in it can be read, and nothing in it changes'),
  archiving('unarchive', 'Bring a group back from the archive'),
  post('/groups/:id/transfer', {
    summary: 'Move a group into another, or to the top; its old address leads to the new one',
    access: owner,
    input: { group_id: optional(Id) },
    returns: one(GroupDetailForm),
    handle: async ({ caller, group, input: { group_id }, ...services }) => {
      const { db } = services;
      const parent = group_id === undefined ? undefined : await visibleGroup(db, caller, String(group_id));
      if (!parent) await checkMayCreate(db, caller, undefined);
      await db.transaction().execute((tx) => transferGroup(tx, caller, group.id, parent));
      return groupReply(services, caller, group.id);
    },
  }),
  get('/groups/:id/transfer_locations', {
    summary: 'List the groups that a group can be moved into',
    access: owner,
    input: { ...paging, search: optional(Type.String({ description: 'Part of the name or of the full path' })) },
    returns: pageOf(PublicGroupDetails),
    handle: async ({ db, url, caller, group, input }) => {
      const pattern = input.search && containing(input.search);
      const groups = db
        .selectFrom('namespaces')
        .select(['id', 'name', 'full_path', namespaceFullName().as('full_name')])
        .where('kind', '=', 'group')
        .where(sql<boolean>`${groupLevel(caller)} >= ${sql.lit(levels.owner)}`)
        .where(sql<boolean>`not traversal_ids @> ${[group.id]}::bigint[] and id is distinct from ${group.parent_id}::bigint`)
        .$if(pattern !== undefined, (q) => q.where(sql<boolean>`(name ilike ${pattern} or full_path::text ilike ${pattern})`))
        .orderBy('name')
        .orderBy('id');
      const page = await paginate(db, groups, input);
      return { ...page, items: page.items.map((row) => presentPublicGroup(url, row)) };
    },
  }),
  post('/groups/:id/projects/:project_id', {
    summary: 'Move a project into a group',
    access: groupForAdmin,
    input: { project_id: Type.String({ description: 'Id or full path' }) },
    returns: one(GroupDetailForm),
    handle: async ({ caller, group, input, ...services }) => {
      const project = await visibleProject(services.db, caller, input.project_id);
      await services.db.transaction().execute((tx) => transferProject(tx, caller, project.id, group.id));
      return groupReply(services, caller, group.id);
    },
  }),
];
