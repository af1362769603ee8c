/** Labels in webhooks. */
import { type RawBuilder, sql } from 'kysely';
import { momentInJson } from '../../../db/index.ts';

/**
 * Labels, by title.
 * @param ids a select of ids
 */
export const labelsFacts = (ids: RawBuilder<unknown>): RawBuilder<unknown> => sql`
  (select coalesce(json_agg(json_build_object(
            'id', labels.id, 'title', labels.title, 'color', labels.color, 'project_id', labels.project_id, 'created_at', ${momentInJson('labels.created_at')},
            'updated_at', ${momentInJson('labels.updated_at')}, 'template', false, 'description', labels.description,
            'type', case when labels.group_id is null then 'ProjectLabel' else 'GroupLabel' end, 'group_id', labels.group_id) order by labels.title), '[]')
     from labels where labels.id in (${ids}))`;
