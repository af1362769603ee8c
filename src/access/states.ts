/** Effective states of projects and groups: the descendants of an archived group are archived, and the descendants of a group marked for deletion are marked as well. */
import { type RawBuilder, type SqlBool, sql } from 'kysely';
import { forbidden } from '../http/index.ts';

const states = {
  archived: (table: string) => sql<SqlBool>`${sql.ref(`${table}.archived`)}`,
  marked_for_deletion: (table: string) => sql<SqlBool>`${sql.ref(`${table}.marked_for_deletion_at`)} is not null`,
};
type State = keyof typeof states;

/** A predicate on rows of `projects`: the project or one of its ancestors is in the state. For single projects. */
export const isProject = (state: State): RawBuilder<SqlBool> => sql`
  (${states[state]('projects')} or exists (
    select from namespaces place join namespaces above on above.id = any(place.traversal_ids)
     where place.id = projects.namespace_id and ${states[state]('above')}))`;

/** Both states of a row of `projects` in one query of its ancestors, for a lateral join: `archived`, `marked_for_deletion`. */
export const stateOfProject = sql`
  lateral (select projects.archived or bool_or(above.archived) as archived,
                  projects.marked_for_deletion_at is not null or bool_or(above.marked_for_deletion_at is not null) as marked_for_deletion
             from namespaces place join namespaces above on above.id = any(place.traversal_ids)
            where place.id = projects.namespace_id) state`;

/** A predicate on rows of `namespaces`: the group or one of its ancestors is in the state. For single groups. */
export const isGroup = (state: State): RawBuilder<SqlBool> => sql`
  exists (select from namespaces above where above.id = any(namespaces.traversal_ids) and ${states[state]('above')})`;

/** The IDs of the groups in the state, directly or through an ancestor. It depends on no row, so a list evaluates it once. */
const groupsIn = (state: State) => sql`
  select inside.id from namespaces above join namespaces inside on inside.traversal_ids @> array[above.id]
   where ${states[state]('above')}`;

/** The same as `isProject`, for lists. */
export const isListedProject = (state: State): RawBuilder<SqlBool> => sql`
  (${states[state]('projects')} or projects.namespace_id in (${groupsIn(state)}))`;

/** The same as `isGroup`, for lists. */
export const isListedGroup = (state: State): RawBuilder<SqlBool> => sql`(namespaces.id in (${groupsIn(state)}))`;

/** The message that refuses changes of a group or project that is marked for deletion. */
export const markedText = (kind: 'group' | 'project'): string => `The ${kind} is marked for deletion.`;

/**
 * Refuses a change of a group or project that is marked for deletion: it can only be restored, or deleted at once.
 * @throws ApiError 403
 */
export function refuseMarked(
  kind: 'group' | 'project',
  { marked_for_deletion }: { marked_for_deletion: boolean },
): void {
  if (marked_for_deletion) throw forbidden(markedText(kind));
}
