import assert from 'node:assert/strict';
import { mkdtemp, rm } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import path from 'node:path';
import { after, before, test } from 'node:test';
import fc from 'fast-check';
import { testDatabase } from '../../test/support/database.ts';
import { runs } from '../../test/support/runs.ts';
import { createUser } from '../areas/people/users/index.ts';
import { inviteGroup, uninviteGroup } from '../areas/spaces/group_links/index.ts';
import { createGroup, transferGroup, updateGroup } from '../areas/spaces/groups/index.ts';
import { addMembers, changeMember, removeMember } from '../areas/spaces/members/index.ts';
import { createProject, transferProject } from '../areas/spaces/projects/index.ts';
import { diskBlobs } from '../blobs/index.ts';
import { daysFromNow } from '../cron/index.ts';
import type { Database } from '../db/index.ts';
import { ApiError, type Services } from '../http/index.ts';
import { noSignInFile } from '../identity_providers/index.ts';
import { secretsFrom } from '../secrets/index.ts';
import type { Subtree } from './authorizations.ts';
import { groupFor } from './groups.ts';
import { lockPlace } from './tree_locks.ts';

/** Memberships expire on the first of these days or before; nothing changes afterwards. */
const days = [0, 1, 2, 3, 4, 5].map(daysFromNow);
const levels = [5, 10, 20, 30, 40, 50];
const groupLevels = fc.constantFrom(...levels);

let services: Services;
let people: number[];
/** Two roles of the instance for each level that can have one. */
let roles: { id: number; base_access_level: number }[];

before(async () => {
  const { db } = await testDatabase();
  const storage = await mkdtemp(path.join(tmpdir(), 'coppice-authorizations-'));
  services = {
    db,
    url: 'http://coppice.test',
    ssh_url: 'git@coppice.test:',
    storages: { default: storage },
    downloads: '/nonexistent',
    blobs: diskBlobs(storage),
    secrets: secretsFrom('k'.repeat(32)),
    repositories: { kinds: [], followers: [] },
    stored_files: [],
    hook_events: [],
    licensePublicKey: undefined,
    geo: { role: undefined, nodeName: 'http://localhost', primaryUrl: undefined, databaseUrl: undefined },
    sign_in: noSignInFile,
    askDirectories: async () => undefined,
    followGroups: async () => {},
  };
  people = [];
  for (const username of ['ada', 'bea', 'cem', 'dan'])
    people.push(
      await db
        .transaction()
        .execute((tx) =>
          createUser(tx, { username, name: username, email: `${username}@example.com`, confirmed: true }),
        ),
    );
  roles = await db
    .insertInto('member_roles')
    .values(
      levels
        .filter((level) => level > 5)
        .flatMap((base_access_level) => [
          { name: `reader ${base_access_level}`, base_access_level, read_code: true },
          { name: `remover ${base_access_level}`, base_access_level, remove_project: true },
        ]),
    )
    .returning(['id', 'base_access_level'])
    .execute();
});
after(() => rm(services.storages.default!, { recursive: true, force: true }));

/** The groups and projects that one sequence of operations has created, in order. */
interface Places {
  groups: number[];
  projects: number[];
  /** Of groups that were created at the top level. */
  roles: number[];
}

const placeAt = ({ groups, projects }: Places, index: number): Subtree => {
  const all = [...groups.map((group_id) => ({ group_id })), ...projects.map((project_id) => ({ project_id }))];
  return all[index % all.length]!;
};

let made = 0;
const inTransaction = <T>(work: (tx: Database) => Promise<T>) => services.db.transaction().execute(work);

async function addGroup(places: Places, parent_id: number | undefined, creator_id = people[0]!): Promise<void> {
  const name = `place-${++made}`;
  const group_id = await inTransaction((tx) => createGroup(tx, { name, path: name, parent_id, creator_id }));
  places.groups.push(group_id);
  if (parent_id !== undefined) return;
  const role = services.db
    .insertInto('member_roles')
    .values({ group_id, name, base_access_level: 30, read_code: true });
  places.roles.push((await role.returning('id').executeTakeFirstOrThrow()).id);
}

async function addProject(places: Places, namespace_id: number): Promise<void> {
  const name = `place-${++made}`;
  const namespace = await services.db
    .selectFrom('namespaces')
    .select(['id', 'full_path'])
    .where('id', '=', namespace_id)
    .executeTakeFirstOrThrow();
  places.projects.push(
    await createProject(services, { name, path: name, namespace, creator_id: people[0]!, default_branch: 'main' }),
  );
}

async function namespaceOf(user: number): Promise<number> {
  const row = await services.db
    .selectFrom('namespaces')
    .select('id')
    .where('owner_id', '=', user)
    .executeTakeFirstOrThrow();
  return row.id;
}

/** The role of the level to use; `own`: one of a top-level group, for Developers; null: none; undefined: the current one. */
type RoleChoice = 0 | 1 | 'own' | null | undefined;

type Operation =
  | { do: 'invite'; place: number; group: number; level: number; ends: number | null }
  | { do: 'uninvite'; link: number }
  | { do: 'move group'; group: number; parent: number | null }
  | { do: 'move project'; project: number; group: number }
  | { do: 'group'; parent: number; creator: number }
  | { do: 'project'; group: number }
  | { do: 'own project'; user: number }
  | {
      do: 'add';
      place: number;
      users: number[];
      level: number;
      role: RoleChoice;
      ends: number | null;
      existing: 'change' | 'refuse';
    }
  | { do: 'change'; place: number; user: number; level: number; role: RoleChoice; ends: number | null }
  | { do: 'remove'; place: number; user: number; below: boolean };

const user = fc.nat({ max: 3 });
const place = fc.nat({ max: 20 });
const role = fc.constantFrom<RoleChoice>(0, 1, 'own', 'own', null, undefined);
const ends = fc.option(fc.integer({ min: -1, max: 5 }), { freq: 3 });
const operation: fc.Arbitrary<Operation> = fc.oneof(
  { weight: 2, arbitrary: fc.record({ do: fc.constant('group' as const), parent: place, creator: user }) },
  { weight: 2, arbitrary: fc.record({ do: fc.constant('project' as const), group: place }) },
  { weight: 1, arbitrary: fc.record({ do: fc.constant('own project' as const), user }) },
  {
    weight: 5,
    arbitrary: fc.record({
      do: fc.constant('invite' as const),
      place,
      group: place,
      level: fc.constantFrom(...levels.filter((level) => level > 5)),
      ends,
    }),
  },
  { weight: 1, arbitrary: fc.record({ do: fc.constant('uninvite' as const), link: place }) },
  {
    weight: 2,
    arbitrary: fc.record({
      do: fc.constant('move group' as const),
      group: place,
      parent: fc.option(place, { freq: 3 }),
    }),
  },
  { weight: 1, arbitrary: fc.record({ do: fc.constant('move project' as const), project: place, group: place }) },
  {
    weight: 7,
    arbitrary: fc.record({
      do: fc.constant('add' as const),
      place,
      users: fc.array(user, { minLength: 1, maxLength: 3 }),
      level: groupLevels,
      role,
      ends,
      existing: fc.constantFrom('change' as const, 'refuse' as const),
    }),
  },
  {
    weight: 4,
    arbitrary: fc.record({ do: fc.constant('change' as const), place, user, level: groupLevels, role, ends }),
  },
  { weight: 3, arbitrary: fc.record({ do: fc.constant('remove' as const), place, user, below: fc.boolean() }) },
);

const oneOf = (ids: readonly number[], index: number) => ids[index % ids.length]!;
const mover = () => ({ id: people[0]!, admin: true });

async function invite(
  places: Places,
  step: { place: number; group: number; level: number },
  expires_at: string | null,
): Promise<void> {
  const target = placeAt(places, step.place);
  const invited_group_id = oneOf(places.groups, step.group);
  if ('group_id' in target && target.group_id === invited_group_id) return;
  // The endpoints refuse dates in the past; here they make an expired link.
  await inTransaction((tx) => inviteGroup(tx, target, { invited_group_id, access_level: step.level, expires_at }));
}

async function uninvite({ groups }: Places, index: number): Promise<void> {
  const links = await services.db
    .selectFrom('group_links')
    .selectAll()
    .where('invited_group_id', 'in', groups)
    .execute();
  const link = links[index % Math.max(1, links.length)];
  if (!link) return;
  const target = link.group_id === null ? { project_id: link.project_id! } : { group_id: link.group_id };
  await inTransaction((tx) => uninviteGroup(tx, target, link.invited_group_id, 50));
}

/** The same, in the form of a caller. */
const moverAsCaller = () => ({ ...mover(), external: false }) as Parameters<typeof transferProject>[1];

async function moveGroup({ groups }: Places, step: { group: number; parent: number | null }): Promise<void> {
  const parent =
    step.parent === null ? undefined : await groupFor(services.db, moverAsCaller(), String(oneOf(groups, step.parent)));
  await inTransaction((tx) => transferGroup(tx, mover(), oneOf(groups, step.group), parent));
}

async function moveProject({ groups, projects }: Places, step: { project: number; group: number }): Promise<void> {
  if (projects.length === 0) return;
  const [project, group] = [oneOf(projects, step.project), oneOf(groups, step.group)];
  await inTransaction((tx) => transferProject(tx, moverAsCaller(), project, group));
}

const ownerOf = (id: number) => ({ id, access_level: 50, permissions: [] });

/** The role that a step names, if one of its level exists. A role of another tree is refused. */
function roleOf(
  { roles: own }: Places,
  { level, role, place: at }: { level: number; role: RoleChoice; place: number },
): { member_role_id?: number | null } {
  if (role === 'own') return level === 30 ? { member_role_id: oneOf(own, at) } : {};
  const fitting = roles.filter(({ base_access_level }) => base_access_level === level);
  if (role === undefined || fitting.length === 0) return {};
  return { member_role_id: role === null ? null : fitting[role]!.id };
}

/** Runs an operation like the endpoints. Refusals are expected and must change nothing. */
async function perform(places: Places, step: Operation): Promise<void> {
  const actor = ownerOf(people[0]!);
  const endOf = (offset: number | null) => (offset === null ? null : daysFromNow(offset));
  try {
    if (step.do === 'group')
      await addGroup(places, places.groups[step.parent % places.groups.length], people[step.creator]!);
    else if (step.do === 'project') await addProject(places, places.groups[step.group % places.groups.length]!);
    else if (step.do === 'own project') await addProject(places, await namespaceOf(people[step.user]!));
    else if (step.do === 'invite') await invite(places, step, endOf(step.ends));
    else if (step.do === 'uninvite') await uninvite(places, step.link);
    else if (step.do === 'move group') await moveGroup(places, step);
    else if (step.do === 'move project') await moveProject(places, step);
    else {
      const where = placeAt(places, step.place);
      await inTransaction(async (tx) => {
        if (step.do === 'remove') {
          await removeMember(tx, where, actor, { user_id: people[step.user]!, below: step.below });
          return;
        }
        const grant = { access_level: step.level, expires_at: endOf(step.ends), ...roleOf(places, step) };
        if (step.do === 'change') await changeMember(tx, where, actor, { user_id: people[step.user]!, ...grant });
        else
          await addMembers(tx, where, actor, {
            user_ids: step.users.map((one) => people[one]!),
            ...grant,
            existing: step.existing,
          });
      });
    }
  } catch (error) {
    if (!(error instanceof ApiError)) throw error;
  }
}

interface Grant {
  access_level: number;
  expires_at: string | null;
  member_role_id: number | null;
}

const countsOn = ({ expires_at }: Grant, day: string) => expires_at === null || expires_at > day;

/** The roles of the grants in force on a day. */
const rolesOn = (grants: readonly Grant[], day: string): number[] =>
  [
    ...new Set(grants.filter((grant) => countsOn(grant, day)).flatMap(({ member_role_id }) => member_role_id ?? [])),
  ].toSorted((a, b) => a - b);

/** The highest level of the grants in force on a day. */
const levelOn = (grants: readonly Grant[], day: string): number =>
  Math.max(0, ...grants.filter((grant) => countsOn(grant, day)).map(({ access_level }) => access_level));

/** The rows of memberships and namespaces, for the comparison. */
async function everything(db: Database) {
  return {
    members: await db.selectFrom('members').selectAll().execute(),
    links: await db.selectFrom('group_links').selectAll().execute(),
    groupRoles: new Map(
      (await db.selectFrom('member_roles').select(['id', 'group_id']).execute()).map((row) => [row.id, row.group_id]),
    ),
    namespaces: new Map((await db.selectFrom('namespaces').selectAll().execute()).map((row) => [row.id, row])),
    projects: new Map((await db.selectFrom('projects').selectAll().execute()).map((row) => [row.id, row])),
    groupRows: await db.selectFrom('group_authorizations').selectAll().execute(),
    projectRows: await db.selectFrom('project_authorizations').selectAll().execute(),
  };
}
type Everything = Awaited<ReturnType<typeof everything>>;

/** A group and its ancestors, parent by parent. */
function chainOf({ namespaces }: Everything, group_id: number): number[] {
  const chain: number[] = [];
  for (let id: number | null = group_id; id !== null; id = namespaces.get(id)!.parent_id) chain.push(id);
  return chain;
}

/** A user's grants by memberships in a group and its ancestors. Minimal access applies to the group itself only. */
const ownGrants = (all: Everything, user_id: number, group_id: number): Grant[] =>
  chainOf(all, group_id).flatMap((id, distance) =>
    all.members.filter(
      (member) => member.user_id === user_id && member.group_id === id && (distance === 0 || member.access_level > 5),
    ),
  );

const earlier = (a: string | null, b: string | null) => (a === null || (b !== null && b < a) ? b : a);

/** A user's grants by invited groups: those of memberships in the invited group, at most at the level and until the end of the link. */
const invitedGrants = (all: Everything, user_id: number, links: Everything['links']): Grant[] =>
  links.flatMap((link) =>
    ownGrants(all, user_id, link.invited_group_id)
      .filter(({ access_level }) => access_level > 5)
      .map(({ access_level, expires_at }) => ({
        access_level: Math.min(access_level, link.access_level),
        expires_at: earlier(expires_at, link.expires_at),
        member_role_id: null,
      })),
  );

/** A user's grants in a group, by memberships and by groups that are invited to it or its ancestors. */
function grantsInGroup(all: Everything, user_id: number, group_id: number): Grant[] {
  const chain = chainOf(all, group_id);
  const links = all.links.filter((link) => link.group_id !== null && chain.includes(link.group_id));
  return [...ownGrants(all, user_id, group_id), ...invitedGrants(all, user_id, links)];
}

function grantsInProject(all: Everything, user_id: number, project_id: number): Grant[] {
  const namespace = all.namespaces.get(all.projects.get(project_id)!.namespace_id)!;
  const direct: Grant[] = [
    ...all.members.filter((member) => member.user_id === user_id && member.project_id === project_id),
    ...invitedGrants(
      all,
      user_id,
      all.links.filter((link) => link.project_id === project_id),
    ),
  ];
  if (namespace.kind === 'group')
    return [...direct, ...grantsInGroup(all, user_id, namespace.id).filter(({ access_level }) => access_level > 5)];
  return namespace.owner_id === user_id
    ? [...direct, { access_level: 50, expires_at: null, member_role_id: null }]
    : direct;
}

/** Every assigned role belongs to the instance or to the top-level group of the membership. */
function compareRoles(all: Everything): void {
  for (const { group_id, project_id, member_role_id } of all.members) {
    const owner = member_role_id === null ? null : all.groupRoles.get(member_role_id)!;
    if (owner === null) continue;
    const root = all.namespaces.get(group_id ?? all.projects.get(project_id!)!.namespace_id)!.traversal_ids[0];
    assert.equal(owner, root, `a role of group ${owner} is in the tree of ${root}`);
  }
  for (const owner of all.groupRoles.values())
    assert.ok(
      owner === null || all.namespaces.get(owner)!.parent_id === null,
      `group ${owner} has roles and is not at the top`,
    );
}

/** Compares both tables with the memberships: for every user, group and project, on each of the next days. */
async function compare({ groups, projects }: Places): Promise<void> {
  const all = await everything(services.db);
  compareRoles(all);
  const check = (kind: string, id: number, user_id: number, rows: readonly Grant[], grants: readonly Grant[]) => {
    const where = `user ${user_id} in ${kind} ${id}`;
    for (const day of days) {
      assert.equal(levelOn(rows, day), levelOn(grants, day), `${where} on ${day}`);
      assert.deepEqual(rolesOn(rows, day), rolesOn(grants, day), `roles of ${where} on ${day}`);
    }
    const named = rows.flatMap(({ member_role_id }) => member_role_id ?? []);
    assert.equal(new Set(named).size, named.length, `${where} has two rows for one role`);
    for (const row of rows) {
      if (row.member_role_id !== null) continue;
      const decides = days.some((day) => levelOn([row], day) > 0 && levelOn(rows, day) === row.access_level);
      assert.ok(decides, `${where} has a row of level ${row.access_level} that never decides`);
    }
  };
  for (const user_id of people) {
    for (const id of groups) {
      const rows = all.groupRows.filter((row) => row.user_id === user_id && row.group_id === id);
      check('group', id, user_id, rows, grantsInGroup(all, user_id, id));
    }
    for (const id of projects) {
      const rows = all.projectRows.filter((row) => row.user_id === user_id && row.project_id === id);
      check('project', id, user_id, rows, grantsInProject(all, user_id, id));
    }
  }
}

test('after any sequence of changes, both tables agree with memberships and the tree, for every user and day', async () => {
  const sequences = fc.asyncProperty(
    fc.array(operation, { minLength: 5, maxLength: 25, size: 'max' }),
    async (steps) => {
      const places: Places = { groups: [], projects: [], roles: [] };
      await addGroup(places, undefined);
      // Members of the invited groups come from a second tree.
      await addGroup(places, undefined, people[1]);
      for (const step of steps) {
        await perform(places, step);
        await compare(places);
      }
      await comparePaths();
    },
  );
  await fc.assert(sequences, { numRuns: runs(8, 100) });
});

test('simultaneous changes of people, projects and groups in one tree miss nothing', async () => {
  const places: Places = { groups: [], projects: [], roles: [] };
  await addGroup(places, undefined);
  const top = places.groups[0]!;
  for (let child = 0; child < 3; child++) await addGroup(places, top);
  const [, ...inside] = places.groups;
  const actor = ownerOf(people[0]!);
  const add = (where: Subtree, user_id: number, access_level: number) =>
    inTransaction((tx) => addMembers(tx, where, actor, { user_ids: [user_id], access_level, existing: 'change' }));
  const rename = (group_id: number, round: number) =>
    inTransaction((tx) => updateGroup(tx, group_id, { path: `renamed-${group_id}-${round}` }));
  const work = Array.from({ length: 6 }, (_, round) => [
    add({ group_id: top }, people[1]!, levels[round % levels.length]!),
    add({ group_id: inside[round % 3]! }, people[2]!, 40),
    add({ group_id: inside[(round + 1) % 3]! }, people[3]!, 20),
    addProject(places, inside[round % 3]!),
    addProject(places, top),
    addGroup(places, inside[(round + 2) % 3]!),
    rename(round % 2 === 0 ? top : inside[round % 3]!, round),
  ]).flat();
  const results = await Promise.allSettled(work);
  for (const result of results)
    assert.equal(result.status, 'fulfilled', String((result as PromiseRejectedResult).reason));
  assert.equal(places.groups.length, 10);
  assert.equal(places.projects.length, 12);
  await compare(places);
  await comparePaths();
});

/** Every full path is that of the parent followed by the path, and the same holds for the IDs. */
async function comparePaths(): Promise<void> {
  const { namespaces, projects } = await everything(services.db);
  for (const { id, parent_id, path: last, full_path, traversal_ids } of namespaces.values()) {
    assert.equal(full_path, parent_id === null ? last : `${namespaces.get(parent_id)!.full_path}/${last}`);
    assert.deepEqual(traversal_ids, parent_id === null ? [id] : [...namespaces.get(parent_id)!.traversal_ids, id]);
  }
  for (const { namespace_id, path: last, full_path } of projects.values())
    assert.equal(full_path, `${namespaces.get(namespace_id)!.full_path}/${last}`);
}

test('members and a project that are added at the same time get authorizations', async () => {
  for (let round = 0; round < 10; round++) {
    const places: Places = { groups: [], projects: [], roles: [] };
    await addGroup(places, undefined);
    const [group_id] = places.groups;
    const actor = ownerOf(people[0]!);
    await Promise.all([
      addProject(places, group_id!),
      inTransaction((tx) =>
        addMembers(tx, { group_id: group_id! }, actor, {
          user_ids: [people[1]!],
          access_level: 30,
          existing: 'refuse',
        }),
      ),
    ]);
    await compare(places);
    const { access_level } = await services.db
      .selectFrom('project_authorizations')
      .select('access_level')
      .where('project_id', '=', places.projects[0]!)
      .where('user_id', '=', people[1]!)
      .executeTakeFirstOrThrow();
    assert.equal(access_level, 30);
  }
});

test('invitations between trees, moves of groups and changes of people at the same moment miss nothing and do not block each other', async () => {
  const places: Places = { groups: [], projects: [], roles: [] };
  for (let tree = 0; tree < 4; tree++) {
    await addGroup(places, undefined);
    await addGroup(places, places.groups.at(-1)!);
    await addProject(places, places.groups.at(-1)!);
  }
  const { groups, projects } = places;
  const actor = ownerOf(people[0]!);
  const add = (where: Subtree, user_id: number, access_level: number) =>
    inTransaction((tx) => addMembers(tx, where, actor, { user_ids: [user_id], access_level, existing: 'change' }));
  const invite = (where: Subtree, invited_group_id: number, access_level: number) =>
    inTransaction(async (tx) => {
      await lockPlace(tx, where, [invited_group_id]);
      return inviteGroup(tx, where, { invited_group_id, access_level, expires_at: null });
    });
  const work = Array.from({ length: 8 }, (_, round) => [
    // In both directions, to detect an inconsistent order of locks.
    invite({ group_id: groups[(round * 2) % 8]! }, groups[(round * 2 + 3) % 8]!, 30),
    invite({ project_id: projects[round % 4]! }, groups[(7 - round) % 8]!, 40),
    add({ group_id: groups[round % 8]! }, people[1 + (round % 3)]!, 40),
    add({ group_id: groups[7 - (round % 8)]! }, people[1 + ((round + 1) % 3)]!, 20),
    moveGroup(places, { group: 1 + 2 * (round % 4), parent: 2 * ((round + 1) % 4) }),
    addProject(places, groups[round % 8]!),
  ]).flat();
  for (const result of await Promise.allSettled(work)) {
    const { reason } = result as PromiseRejectedResult;
    assert.ok(result.status === 'fulfilled' || reason instanceof ApiError, String(reason));
  }
  await compare(places);
  await comparePaths();
});
