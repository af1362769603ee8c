/** What many snapshots of events hold: people, projects, groups. `part_present.ts` shows them. */
import { type RawBuilder, sql } from 'kysely';
import { type Built, plainColumns, rowInJson, rowsInJson } from '../../../db/index.ts';

const person = plainColumns('users', ['id', 'name', 'username', 'avatar', 'public_email']);
export type PersonRow = Built<typeof person>;

/** A user; null without an id. */
export const personRow = <I extends number | null>(id: RawBuilder<I>) => rowInJson('users', id, person);

/**
 * Several users, by id.
 * @param ids a select of ids
 */
export const personRows = (ids: RawBuilder<unknown>): RawBuilder<PersonRow[]> =>
  rowsInJson(person, sql`from users where users.id in (${ids})`, sql`users.id`);

const project = {
  ...plainColumns('projects', ['id', 'name', 'description', 'avatar', 'visibility', 'full_path', 'default_branch']),
  ...plainColumns('projects', ['ci_config_path']),
  ...{ namespace: sql<string>`namespaces.name` },
};
export type ProjectRow = Built<typeof project>;

/** A project; null without an id. */
export const projectRow = <I extends number | null>(id: RawBuilder<I>) =>
  rowInJson('projects', id, project, sql`join namespaces on namespaces.id = projects.namespace_id`);

const group = {
  group_id: sql<number>`namespaces.id`,
  group_name: sql<string>`namespaces.name`,
  group_path: sql<string>`namespaces.path`,
  full_path: sql<string>`namespaces.full_path`,
};

/** A group; null without an id. */
export const groupRow = <I extends number | null>(id: RawBuilder<I>) => rowInJson('namespaces', id, group);
