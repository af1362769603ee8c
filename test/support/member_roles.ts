/** Roles for tests that need some, and people who have them. */
import assert from 'node:assert/strict';
import type { Permission } from '../../src/access/index.ts';
import type { Client } from './client.ts';
import type { Person, World } from './populate.ts';

let count = 0;

/**
 * Adds a role over the API.
 * @param wanted its level, Guest by default, and the group at the top that it is of; without one it is of the instance
 * @returns its id
 */
export async function addRole(
  { as }: Pick<World, 'as'>,
  permissions: readonly Permission[],
  { base_access_level = 10, group_id }: { base_access_level?: number; group_id?: number } = {},
): Promise<number> {
  const flags = Object.fromEntries(permissions.map((permission) => [permission, true]));
  const path = group_id === undefined ? '/member_roles' : `/groups/${group_id}/member_roles`;
  const made = await as('admin').post(path, { name: `role-${++count}`, base_access_level, ...flags });
  assert.equal(made.status, 201, JSON.stringify(made.body));
  return made.body.id;
}

/**
 * Creates a user with a custom role in a group or project.
 * @param place e.g. `/groups/7`
 * @param base_access_level of the role, Guest by default
 */
export async function personWith(
  world: Pick<World, 'as' | 'person'>,
  place: string,
  permissions: readonly Permission[],
  base_access_level = 10,
): Promise<Person & { client: Client; role_id: number }> {
  const role_id = await addRole(world, permissions, { base_access_level });
  const person = await world.person();
  const member = { user_id: person.id, access_level: base_access_level, member_role_id: role_id };
  const added = await world.as('admin').post(`${place}/members`, member);
  assert.equal(added.status, 201, JSON.stringify(added.body));
  return { ...person, role_id };
}
