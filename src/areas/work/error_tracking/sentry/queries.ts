/** Queries for other lists of Sentry clients. */
import { type SqlBool, sql } from 'kysely';
import { isMemberOfProject, levels, projectState } from '../../../../access/index.ts';
import type { Database } from '../../../../db/index.ts';
import type { Caller } from '../../../../http/index.ts';

/** The most projects listed; clients choose one of them in their settings. */
const maximumProjects = 100;

/** The first projects that accept errors and whose errors the caller may read. */
export const trackedProjects = (db: Database, caller: Caller) =>
  db
    .selectFrom('projects')
    .innerJoin('error_tracking_settings as settings', 'settings.project_id', 'projects.id')
    .select(['projects.id', 'projects.name', 'projects.path', 'projects.full_path', 'projects.created_at'])
    .where('settings.active', '=', true)
    .where('settings.integrated', '=', true)
    .where(caller.admin ? sql<boolean>`true` : isMemberOfProject(caller, levels.reporter))
    .where(sql<boolean>`not ${projectState.marked_for_deletion}`)
    .orderBy('projects.id')
    .limit(maximumProjects)
    .execute();

/** Whether the caller has at least this role in a project of the organization that accepts errors. */
export async function hasTrackedProject(db: Database, caller: Caller, org: string, level: number): Promise<boolean> {
  const found = await db
    .selectFrom('projects')
    .innerJoin('error_tracking_settings as settings', 'settings.project_id', 'projects.id')
    .select('projects.id')
    .where('settings.active', '=', true)
    .where(sql<SqlBool>`starts_with(lower(projects.full_path::text), ${`${org.toLowerCase()}/`})`)
    .where(caller.admin ? sql<boolean>`true` : isMemberOfProject(caller, level))
    .limit(1)
    .executeTakeFirst();
  return found !== undefined;
}
