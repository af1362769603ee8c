/** Queries for badges. */
import { sql } from 'kysely';
import type { Project } from '../../../access/index.ts';
import type { Database } from '../../../db/index.ts';

/** The project or group that owns badges. */
export type BadgeOwner = { kind: 'project'; project: Project } | { kind: 'group'; group: { id: number } };

const badges = (db: Database) =>
  db.selectFrom('badges').select(['id', 'name', 'link_url', 'image_url', 'project_id', 'created_at']);

export type BadgeRow = Awaited<ReturnType<ReturnType<typeof badges>['executeTakeFirstOrThrow']>>;

/** The owner's own badges. */
export const ownBadges = (db: Database, owner: BadgeOwner) =>
  owner.kind === 'project'
    ? badges(db).where('project_id', '=', owner.project.id)
    : badges(db).where('group_id', '=', owner.group.id);

/** The badges that an owner shows: for a project, those of its ancestor groups first, then its own. */
export const shownBadges = (db: Database, owner: BadgeOwner) =>
  owner.kind === 'group'
    ? ownBadges(db, owner)
    : badges(db).where(
        sql<boolean>`(project_id = ${owner.project.id}
          or group_id = any((select traversal_ids from namespaces where id = ${owner.project.namespace_id})::bigint[]))`,
      );

/** Badges in display order. */
export const inOrder = (query: ReturnType<typeof shownBadges>) =>
  query.orderBy(sql`(project_id is not null)`).orderBy('created_at').orderBy('id');
