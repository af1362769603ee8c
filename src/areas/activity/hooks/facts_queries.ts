/** Parts of the facts of an event, as expressions of type `json`. A hole, such as `{"$person": {…}}`, is filled when the event is announced (`body_present.ts`). */
import { type RawBuilder, sql } from 'kysely';
import { userPage } from '../../../access/index.ts';
import type { PagePath } from '../../../foundation/addresses.ts';
import type { Hole } from './definition.ts';

type Id = RawBuilder<unknown> | number;

/**
 * A value that is filled in when the event is announced.
 * @param facts an expression of type `json`
 */
export const hole = (name: Hole, facts: RawBuilder<unknown>): RawBuilder<unknown> =>
  sql`json_build_object(${sql.lit(`$${name}`)}, ${facts})`;

/** A user as the source of an event or as an assignee; null without one. */
export const personFacts = (id: Id): RawBuilder<unknown> => sql`
  (select ${hole(
    'person',
    sql`json_build_object('id', users.id, 'name', users.name, 'username', users.username, 'avatar', users.avatar, 'public_email', users.public_email)`,
  )}
     from users where users.id = ${id})`;

/**
 * Several users, by id.
 * @param ids a select of ids
 */
export const peopleFacts = (ids: RawBuilder<unknown>): RawBuilder<unknown> => sql`
  (select coalesce(json_agg(${personFacts(sql`person.id`)} order by person.id), '[]') from (${ids}) person(id))`;

/** A project; null for a deleted one. */
export const projectFacts = (id: Id): RawBuilder<unknown> => sql`
  (select ${hole(
    'project',
    sql`json_build_object(
            'id', projects.id, 'name', projects.name, 'description', projects.description, 'avatar', projects.avatar, 'namespace', namespaces.name,
            'visibility', projects.visibility, 'full_path', projects.full_path, 'default_branch', projects.default_branch)`,
  )}
     from projects join namespaces on namespaces.id = projects.namespace_id where projects.id = ${id})`;

/** The older form of a project, shown in addition to it. */
export const repositoryFacts = (id: Id): RawBuilder<unknown> => sql`
  (select ${hole(
    'repository',
    sql`json_build_object('name', projects.name, 'description', projects.description, 'visibility', projects.visibility, 'full_path', projects.full_path)`,
  )}
     from projects where projects.id = ${id})`;

/** A group; null without an id. */
export const groupFacts = (id: Id): RawBuilder<unknown> => sql`
  (select json_build_object('group_id', namespaces.id, 'group_name', namespaces.name, 'group_path', namespaces.path, 'full_path', namespaces.full_path)
     from namespaces where namespaces.id = ${id})`;

/**
 * The path of a page, as an expression.
 * @param values values that need no escaping, such as full paths and numbers
 */
export function pathInSql<Values extends (string | number)[]>(
  { pattern }: PagePath<Values>,
  ...values: { [Index in keyof Values]: RawBuilder<unknown> }
): RawBuilder<string> {
  const [start = '', ...others] = pattern.split(/:\w+/);
  const pieces = values.flatMap((value, index) => [value, sql.lit(others[index]!)]);
  return sql`concat(${sql.lit(start)}, ${sql.join(pieces)})`;
}

/**
 * The URL of a page of a project.
 * @param name as in `HookItem`
 * @param anchor the part after the path
 */
export const pageFacts = (
  page: PagePath,
  project_id: Id,
  name: RawBuilder<unknown>,
  anchor: RawBuilder<unknown> = sql`''`,
): RawBuilder<unknown> => sql`
  (select ${hole('url', sql`concat(${pathInSql(page, sql`projects.full_path`, name)}, ${anchor})`)} from projects where projects.id = ${project_id})`;

/** The URL of a user's page; null without one. */
export const userUrlFacts = (id: Id): RawBuilder<unknown> => sql`
  (select ${hole('url', pathInSql(userPage, sql`users.username`))} from users where users.id = ${id})`;

/** The location of a commit, for the holes that are filled from it; null without an id. */
export const commitPlace = (project_id: Id, sha: RawBuilder<unknown>): RawBuilder<unknown> => sql`
  (select json_build_object('id', projects.id, 'full_path', projects.full_path, 'sha', ${sha})
     from projects where projects.id = ${project_id} and ${sha} is not null)`;

/** A commit of a project's repository; null without an id. */
export const commitFacts = (project_id: Id, sha: RawBuilder<unknown>): RawBuilder<unknown> =>
  hole('commit', commitPlace(project_id, sha));

/** The first fields of every event in a project. */
export const eventHead = (
  kind: string,
  event_type: string,
  actor_id: number | null,
  project_id: number,
): RawBuilder<unknown> => sql`
  'object_kind', ${sql.lit(kind)}, 'event_type', ${sql.lit(event_type)}, 'user', ${personFacts(sql`${actor_id}::bigint`)}, 'project', ${projectFacts(project_id)}`;
