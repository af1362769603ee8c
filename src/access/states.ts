/** What holds for a project or group because of a group above it: an archived group archives what is inside, a marked one takes it along. */
import { type RawBuilder, type SqlBool, sql } from 'kysely';

const states = {
  archived: (table: string) => sql<SqlBool>`${sql.ref(`${table}.archived`)}`,
  marked_for_deletion: (table: string) => sql<SqlBool>`${sql.ref(`${table}.marked_for_deletion_at`)} is not null`,
};
type State = keyof typeof states;

/** A predicate on rows of `projects`: the project or a group above it is in the state. For single projects. */
export const isProject = (state: State): RawBuilder<SqlBool> => sql`
  (${states[state]('projects')} or exists (
    select from namespaces place join namespaces above on above.id = any(place.traversal_ids)
     where place.id = projects.namespace_id and ${states[state]('above')}))`;

/** All of it about the project of a row of `projects` in one look at the groups above, to be joined laterally: `archived`, `marked_for_deletion`. */
export const stateOfProject = sql`
  lateral (select projects.archived or bool_or(above.archived) as archived,
                  projects.marked_for_deletion_at is not null or bool_or(above.marked_for_deletion_at is not null) as marked_for_deletion
             from namespaces place join namespaces above on above.id = any(place.traversal_ids)
            where place.id = projects.namespace_id) state`;

/** A predicate on rows of `namespaces`: the group or one above it is in the state. For single groups. */
export const isGroup = (state: State): RawBuilder<SqlBool> => sql`
  exists (select from namespaces above where above.id = any(namespaces.traversal_ids) and ${states[state]('above')})`;

/** The ids of the groups that are in the state, by themselves or from above. It depends on no row, so that a list looks for them once. */
const groupsIn = (state: State) => sql`
  select inside.id from namespaces above join namespaces inside on inside.traversal_ids @> array[above.id]
   where ${states[state]('above')}`;

/** The same as `isProject`, for lists. */
export const isListedProject = (state: State): RawBuilder<SqlBool> => sql`
  (${states[state]('projects')} or projects.namespace_id in (${groupsIn(state)}))`;

/** The same as `isGroup`, for lists. */
export const isListedGroup = (state: State): RawBuilder<SqlBool> => sql`(namespaces.id in (${groupsIn(state)}))`;
