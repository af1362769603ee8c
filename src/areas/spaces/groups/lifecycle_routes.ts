/** Archiving, transferring, deleting and restoring groups. */
import { sql } from 'kysely';
import { Type } from 'typebox';
import {
  groupForAdmin,
  groupLevel,
  groupRole,
  isListedGroup,
  levels,
  markedText,
  refuseMarked,
  visibleGroup,
  visibleProject,
  withChange,
} from '../../../access/index.ts';
import { accepted, del, get, Id, one, optional, pageOf, post, withStatus } from '../../../http/index.ts';
import { mapPage, paginate, paging } from '../../../lists/index.ts';
import { PublicGroupDetails, presentPublicGroup, publicGroups } from '../../people/namespaces/index.ts';
import { transferProject } from '../projects/transfer_actions.ts';
import { setArchived } from './archive_actions.ts';
import { checkMayCreateGroup } from './creation_checks.ts';
import { endGroup, restoreGroup } from './deletion_actions.ts';
import { groupReply } from './detail_present.ts';
import { GroupDetailForm } from './present.ts';
import { hasChildLike } from './queries.ts';
import { transferGroup } from './transfer_actions.ts';

const owner = groupRole('owner');
/** The permission applies to subgroups only. */
const remover = withChange(groupRole('owner', { permission: 'remove_group' }), ({ group }) => ({ group_id: group.id }));

const archiving = (verb: 'archive' | 'unarchive', summary: string) =>
  post(`/groups/:id/${verb}`, {
    operation: `${verb}Group`,
    summary,
    access: owner,
    returns: withStatus(200, one(GroupDetailForm)),
    refusals: {
      422: [
        `Group is already ${verb}d!`,
        `Cannot ${verb} group since it is scheduled for deletion.`,
        `Cannot ${verb} group since one of the ancestor groups is archived!`,
      ],
    },
    handle: async ({ caller, group, ...services }) => {
      await setArchived(services.db, group, verb === 'archive');
      return groupReply(services, caller, group.id);
    },
  });

export const groupLifecycleRoutes = [
  del('/groups/:id', {
    operation: 'deleteGroup',
    audits: ['group_deletion_marked'],
    summary: 'Mark a group for deletion, or delete a marked subgroup immediately',
    description:
      'The group and everything in it become read-only. Its path and name are free at once: it is renamed to `…-deletion_scheduled-<id>` until it is restored. It can be restored for `deletion_adjourned_period` days (an application setting); then a job deletes it with everything in it.',
    access: remover,
    input: {
      permanently_remove: Type.Boolean({ default: false }),
      full_path: optional(
        Type.String({ description: 'With `permanently_remove`: full path of the group, as a confirmation' }),
      ),
    },
    conditional: true,
    returns: accepted,
    refusals: {
      400: [
        'Group has been already marked for deletion',
        'Group must be marked for deletion first.',
        '`full_path` is incorrect. You must enter the complete path for the subgroup.',
        '`permanently_remove` option is only available for subgroups.',
      ],
    },
    handle: ({ change, input, unmodified_since }) =>
      change((tx, { group }) => endGroup(tx, group, { ...input, unmodified_since })),
  }),
  post('/groups/:id/restore', {
    operation: 'restoreGroup',
    audits: ['group_restored'],
    summary: 'Restore a group that is marked for deletion',
    access: remover,
    returns: one(GroupDetailForm),
    refusals: {
      400: ['Group has not been marked for deletion', '<parameter>: has already been taken'],
    },
    handle: async ({ caller, group, change, ...services }) => {
      await change((tx) => restoreGroup(tx, group.id));
      return groupReply(services, caller, group.id);
    },
  }),
  archiving('archive', 'Archive a group, which makes it and everything in it read-only'),
  archiving('unarchive', 'Unarchive a group'),
  post('/groups/:id/transfer', {
    operation: 'transferGroup',
    summary: 'Transfer a group to another parent group or to the top level',
    access: owner,
    input: { group_id: optional(Id) },
    returns: one(GroupDetailForm),
    refusals: {
      400: 'Transfer failed: <reason>',
      403: `403 Forbidden - ${markedText('group')}`,
      404: '404 Group Not Found',
    },
    handle: async ({ caller, group, input: { group_id }, ...services }) => {
      refuseMarked('group', group);
      const { db } = services;
      const parent = group_id === undefined ? undefined : await visibleGroup(db, caller, String(group_id));
      if (!parent) await checkMayCreateGroup(db, caller, undefined);
      await db.transaction().execute((tx) => transferGroup(tx, caller, group.id, parent));
      return groupReply(services, caller, group.id);
    },
  }),
  get('/groups/:id/transfer_locations', {
    operation: 'listGroupTransferLocations',
    summary: 'List the groups that a group can be transferred to',
    access: owner,
    input: { ...paging, search: optional(Type.String({ description: 'Part of the name or full path' })) },
    returns: pageOf(PublicGroupDetails),
    handle: async ({ db, url, caller, group, input }) => {
      const groups = publicGroups(db, input.search)
        .where(sql<boolean>`${groupLevel(caller)} >= ${sql.lit(levels.owner)}`)
        .where(sql<boolean>`not ${isListedGroup('archived')} and not ${isListedGroup('marked_for_deletion')}`)
        .where(
          sql<boolean>`not traversal_ids @> ${[group.id]}::bigint[] and id is distinct from ${group.parent_id}::bigint`,
        )
        .where(sql<boolean>`not ${hasChildLike(group)}`)
        .orderBy('name')
        .orderBy('id');
      const page = await paginate(db, groups, input);
      return mapPage(page, (row) => presentPublicGroup(url, row));
    },
  }),
  post('/groups/:id/projects/:project_id', {
    operation: 'transferProjectToGroup',
    summary: 'Transfer a project to a group',
    access: groupForAdmin,
    input: { project_id: Type.String({ description: 'ID or full path' }) },
    returns: one(GroupDetailForm),
    refusals: {
      400: 'Failed to transfer project {:new_namespace=>[<reasons>]}',
      404: '404 Project Not Found',
      409: 'Another request has just transferred the project.',
    },
    handle: async ({ caller, group, input, ...services }) => {
      const project = await visibleProject(services.db, caller, input.project_id);
      await services.db.transaction().execute((tx) => transferProject(tx, caller, project.id, group.id));
      return groupReply(services, caller, group.id);
    },
  }),
];
