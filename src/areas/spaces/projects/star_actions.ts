/** Starring and unstarring projects. */
import { type Database, isForeignKeyViolation } from '../../../db/index.ts';
import { notFound, notModified } from '../../../http/index.ts';

/**
 * Stars a project. The database maintains the number of stars.
 * @throws ApiError 304 when it is already starred, 404 when the project no longer exists
 */
export async function starProject(db: Database, project_id: number, user_id: number): Promise<void> {
  const given = await db
    .insertInto('project_stars')
    .values({ project_id, user_id })
    .onConflict((conflict) => conflict.doNothing())
    .returning('user_id')
    .executeTakeFirst()
    .catch((error: unknown) => {
      throw isForeignKeyViolation(error, 'project_stars_project_id_fkey') ? notFound('Project') : error;
    });
  if (!given) throw notModified();
}

/**
 * Unstars a project.
 * @throws ApiError 304 when it is not starred
 */
export async function unstarProject(db: Database, project_id: number, user_id: number): Promise<void> {
  const taken = await db
    .deleteFrom('project_stars')
    .where('project_id', '=', project_id)
    .where('user_id', '=', user_id)
    .returning('user_id')
    .executeTakeFirst();
  if (!taken) throw notModified();
}
