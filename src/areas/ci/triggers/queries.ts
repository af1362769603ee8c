/** Queries for triggers. */
import { type RawBuilder, sql } from 'kysely';
import { tokenDigest } from '../../../access/index.ts';
import type { Database } from '../../../db/index.ts';
import { found } from '../../../http/index.ts';
import { type UserBasicRow, userBasicJson } from '../../people/users/index.ts';

/** The purpose that tokens are sealed with. */
export const tokenPurpose = 'trigger token';

const owner: RawBuilder<UserBasicRow> = sql`(select ${userBasicJson('users')} from users where users.id = owner_id)`;

/** The triggers of a project. */
export const triggersOf = (db: Database, project_id: number) =>
  db
    .selectFrom('pipeline_triggers')
    .select(['id', 'description', 'created_at', 'updated_at', 'last_used', 'token'])
    .select(owner.as('owner'))
    .where('project_id', '=', project_id);

/** @throws ApiError 404 */
export const triggerOf = async (db: Database, project_id: number, id: number) =>
  found('Trigger', await triggersOf(db, project_id).where('id', '=', id).executeTakeFirst());

/** The trigger with a token; undefined if there is none. */
export const triggerWith = (db: Database, token: string) =>
  db
    .selectFrom('pipeline_triggers')
    .select(['id', 'project_id', 'owner_id', 'description'])
    .where('token_digest', '=', tokenDigest(token))
    .executeTakeFirst();
