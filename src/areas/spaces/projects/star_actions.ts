/** Stars: what users remember projects by. */
import { type Database, isForeignKeyViolation } from '../../../db/index.ts';
import { notFound, notModified } from '../../../http/index.ts';

/**
 * Gives a project the star of a user. How many it has is counted by the database.
 * @throws ApiError 304 when it has it already, 404 when the project is gone
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
 * Takes the star of a user from a project.
 * @throws ApiError 304 when it has none
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
