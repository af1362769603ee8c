/**
 * A place for random people to do random things in, and a model of what they hold there. It works that out from the rows of memberships, is slow, and shares
 * nothing with the server.
 */

import assert from 'node:assert/strict';
import { sql } from 'kysely';
import { refreshAuthorizations } from '../../src/access/index.ts';
import { daysFromNow } from '../../src/cron/index.ts';
import type { Client } from './client.ts';
import { addRole } from './member_roles.ts';
import { type World, world } from './world.ts';

export interface Place {
  kind: 'group' | 'project';
  id: number;
  /** The groups whose members count here, this one included. */
  groups: number[];
}

export interface Holding {
  level: number;
  permissions: ReadonlySet<string>;
}

/** A level alone, or that of a role with it. */
export interface Grant {
  access_level: number;
  member_role_id?: number | null;
}

/** The level that has each permission of the roles below anyway, in groups and in projects. */
const anyway: Record<string, number> = {
  read_code: 20,
  archive_project: 50,
  remove_project: 50,
  admin_group_member: 50,
  manage_group_access_tokens: 50,
  manage_project_access_tokens: 40,
};

const kinds: [number, ...string[]][] = [
  [10, 'admin_group_member'],
  [10, 'manage_project_access_tokens', 'read_code'],
  [10, 'read_code'],
  [10, 'archive_project'],
  [20, 'admin_group_member', 'manage_group_access_tokens'],
  [30, 'remove_project'],
  [40, 'admin_group_member'],
  [50, 'read_code'],
];

export interface Arena {
  world: World;
  people: { id: number; token: string; client: Client }[];
  roles: { id: number; level: number; permissions: string[] }[];
  grants: Grant[];
  /** A group with a subgroup, and a project in each. */
  places: Place[];
  /** A public group with a Developer in it. */
  guests: number;
}

async function asAdmin({ as }: World, path: string, parameters: Record<string, unknown>) {
  const { status, body } = await as('admin').post(path, parameters);
  assert.ok(status < 300, `${path}: ${JSON.stringify(body)}`);
  return body;
}

async function addPlaces(here: World): Promise<Place[]> {
  const group = async (name: string, parent?: object): Promise<number> =>
    (await asAdmin(here, '/groups', { name, path: name, ...parent })).id;
  const project = async (name: string, namespace_id: number): Promise<number> =>
    (await asAdmin(here, '/projects', { name, namespace_id })).id;
  const top = await group('lattice');
  const sub = await group('below', { parent_id: top });
  return [
    { kind: 'group', id: top, groups: [top] },
    { kind: 'group', id: sub, groups: [top, sub] },
    { kind: 'project', id: await project('first', top), groups: [top] },
    { kind: 'project', id: await project('second', sub), groups: [top, sub] },
  ];
}

export async function addArena(): Promise<Arena> {
  const here = await world({ inspectRefusals: false });
  const people: Arena['people'] = [];
  for (let index = 0; index < 5; index++) people.push(await here.person());
  const roles: Arena['roles'] = [];
  for (const [level, ...permissions] of kinds) {
    const id = await addRole(here, permissions as Parameters<typeof addRole>[1], { base_access_level: level });
    roles.push({ id, level, permissions });
  }
  const levels = [10, 20, 30, 40, 50].flatMap((access_level) => [
    { access_level },
    { access_level, member_role_id: null },
  ]);
  const grants = [...levels, ...roles.map(({ id, level }) => ({ access_level: level, member_role_id: id }))];
  const guests = (await asAdmin(here, '/groups', { name: 'guests', path: 'guests', visibility: 'public' })).id;
  await asAdmin(here, `/groups/${guests}/members`, { user_id: people[4]!.id, access_level: 30 });
  return { world: here, people, roles, grants, places: await addPlaces(here), guests };
}

export const urlOf = ({ kind, id }: Place) => `/${kind}s/${id}`;
export const isOf = ({ kind, id }: Place, row: { group_id: number | null; project_id: number | null }) =>
  row[`${kind}_id`] === id;
const columnsOf = ({ kind, id }: Place) => (kind === 'group' ? { group_id: id } : { project_id: id });

const expires_at = daysFromNow(20);
export const tokenRequest = (access_level: number) => ({ name: 'program', scopes: ['api'], expires_at, access_level });

/** What a run begins with. */
export interface Start {
  place: Place;
  user_id: number;
  grant: Grant;
}

export const addresses = ['one', 'two', 'three'].map((name) => `${name}@lattice.example`);

/** Deletes the state of the last run and creates members; each group and project invites a user, and has a bot that is a guest and one that is an owner. */
export async function begin({ world: here, places, guests }: Arena, starts: readonly Start[]): Promise<void> {
  await here.db.transaction().execute(async (tx) => {
    for (const table of ['invitations', 'access_requests', 'group_links', 'access_token_bots'])
      await sql`delete from ${sql.table(table)}`.execute(tx);
    await sql`
      delete from members where group_id is distinct from ${guests} and user_id <> ${here.people.admin.id}`.execute(tx);
    for (const { place, user_id, grant } of starts)
      await tx
        .insertInto('members')
        .values({ ...columnsOf(place), user_id, ...grant })
        .onConflict((conflict) => conflict.doNothing())
        .execute();
    for (const [index, place] of places.entries()) {
      const { grant } = starts[index % starts.length]!;
      const invite_email = addresses[index % addresses.length]!;
      await tx
        .insertInto('invitations')
        .values({ ...columnsOf(place), invite_email, ...grant })
        .execute();
    }
    await refreshAuthorizations(tx, { group_id: places[0]!.id });
  });
  for (const place of places)
    for (const level of [10, 50]) await asAdmin(here, `${urlOf(place)}/access_tokens`, tokenRequest(level));
}

/** Requests access for a user, unless they are a member already. */
export async function ask({ db }: World, place: Place, user_id: number): Promise<void> {
  const known = db.selectFrom('members').select('id').where('user_id', '=', user_id);
  if (await known.where(`${place.kind}_id`, '=', place.id).executeTakeFirst()) return;
  await db
    .insertInto('access_requests')
    .values({ ...columnsOf(place), user_id })
    .onConflict((conflict) => conflict.doNothing())
    .execute();
}

/** The rows that decide, and those that a request could change. */
export async function rows({ db }: World) {
  const members = db
    .selectFrom('members')
    .select(['id', 'group_id', 'project_id', 'user_id', 'access_level', 'member_role_id', 'expires_at']);
  const links = db
    .selectFrom('group_links')
    .select(['id', 'group_id', 'project_id', 'invited_group_id', 'access_level']);
  const tokens = db
    .selectFrom('personal_access_tokens')
    .innerJoin('access_token_bots as bot', 'bot.user_id', 'personal_access_tokens.user_id')
    .select(['personal_access_tokens.id', 'bot.group_id', 'bot.project_id', 'bot.user_id', 'revoked']);
  const requests = db.selectFrom('access_requests').select(['id', 'group_id', 'project_id', 'user_id']);
  const invitations = db
    .selectFrom('invitations')
    .select(['id', 'group_id', 'project_id', 'invite_email', 'access_level', 'member_role_id', 'expires_at'])
    .select(['created_by_id', 'seed']);
  return {
    members: await members.orderBy('id').execute(),
    links: await links.orderBy('id').execute(),
    tokens: await tokens.orderBy('personal_access_tokens.id').execute(),
    requests: await requests.orderBy('id').execute(),
    invitations: await invitations.orderBy('id').execute(),
  };
}
export type Rows = Awaited<ReturnType<typeof rows>>;

/** The rights of a membership, or of an invitation once accepted. */
export const holdingOf = ({ roles }: Arena, { access_level, member_role_id }: Grant): Holding => ({
  level: access_level,
  permissions: new Set(roles.find(({ id }) => id === member_role_id)?.permissions),
});

/** The rights of a user in a group or project: by memberships there and in ancestors, and by invited groups, which only grant levels. */
export function held(arena: Arena, { members, links }: Rows, user_id: number, place: Place): Holding {
  const own = members.filter((row) => row.user_id === user_id);
  const direct = own.filter(
    (row) => isOf(place, row) || (row.group_id !== null && place.groups.includes(row.group_id)),
  );
  const invited = links
    .filter((row) => isOf(place, row) || (row.group_id !== null && place.groups.includes(row.group_id)))
    .flatMap((link) =>
      own
        .filter(({ group_id }) => group_id === link.invited_group_id)
        .map(({ access_level }) => Math.min(access_level, link.access_level)),
    );
  return {
    level: Math.max(0, ...direct.map(({ access_level }) => access_level), ...invited),
    permissions: new Set(direct.flatMap((row) => [...holdingOf(arena, row).permissions])),
  };
}

/** Whether `mine` includes all of `theirs`. */
export const covers = (mine: Holding, theirs: Holding) =>
  theirs.level <= mine.level &&
  [...theirs.permissions].every((one) => mine.permissions.has(one) || mine.level >= anyway[one]!);
