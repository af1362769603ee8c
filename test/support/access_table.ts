/** Who may call what: every access rule, asked as every persona. The table is committed as docs/access.txt and reviewed as a diff. */
import {
  groupFor,
  levels,
  type Permission,
  permissions,
  refreshAuthorizations,
  rightsVersion,
  tokenDigest,
} from '../../src/access/index.ts';
import { endpoints } from '../../src/areas/index.ts';
import { createGroup, transferGroup } from '../../src/areas/spaces/groups/index.ts';
import type { AnyEndpoint, Caller } from '../../src/http/index.ts';
import { ApiError } from '../../src/http/index.ts';
import type { Person, Persona, World } from './populate.ts';

const personas = [
  'anonymous',
  'outsider',
  'guest',
  'planner',
  'reporter',
  'developer',
  'maintainer',
  'owner',
  'admin',
] as const;

type Visibility = 'private' | 'public';

/** Room for the longest path. It is fixed, so that a new path or permission changes the rows that it concerns and no others. */
const pathWidth = 92;

interface Callers {
  /** By the head of the column. */
  personas: ReadonlyMap<string, Caller | undefined>;
  /** A guest with a custom role that has only this permission, for each. */
  guestsWith: ReadonlyMap<Permission, Caller>;
}

/** A caller as a token makes one. */
export function callerFor({ url }: World, { id, username }: Pick<Person, 'id' | 'username'>, admin = false): Caller {
  return {
    id,
    username,
    name: username,
    email: `${username}@${new URL(url).hostname}`,
    commit_email: `${username}@${new URL(url).hostname}`,
    state: 'active',
    admin,
    external: false,
    token: { id: 0, scopes: ['api'], kind: 'personal' },
    sudo: false,
    counted: false,
    plan: 'ultimate',
  };
}

/**
 * The objects that paths name: below a project or group an issue, an epic, a merge request and a public snippet of a user outside the table, and a commit; an
 * export of the administrator, and a runner of the project.
 */
export interface Things {
  commit_id: string;
  sha: string;
  issue_iid: number;
  merge_request_iid: number;
  epic_iid: number;
  epic_id: number;
  snippet_id: number;
  export_id: number;
  runner_id: number;
}

/** Adds these objects below the project and the group of a world. */
export async function addThings({ db, project, group, people, as, person }: World): Promise<Things> {
  const file = { branch: 'main', commit_message: 'Begin', content: 'one\n' };
  await as('maintainer').post(`/projects/${project.id}/repository/files/README.md`, file);
  const [{ id: sha }] = (await as('maintainer').get(`/projects/${project.id}/repository/commits`)).body;
  await db.insertInto('issues').values({ project_id: project.id, iid: 1, title: 'An issue' }).execute();
  const branches = { source_project_id: project.id, source_branch: 'other', target_branch: 'main' };
  await db
    .insertInto('merge_requests')
    .values({ project_id: project.id, iid: 1, title: 'A merge request', ...branches })
    .execute();
  const epic = db.insertInto('epics').values({ group_id: group.id, iid: 1, title: 'An epic' }).returning('id');
  const { id: epic_id } = await epic.executeTakeFirstOrThrow();
  const repository = { storage: 'default', branch: 'main', commit_id: '0'.repeat(40), paths: ['a.txt'], size_bytes: 0 };
  const snippet = { project_id: project.id, author_id: (await person()).id, title: 'A snippet', visibility: 'public' };
  const { id: snippet_id } = await db
    .insertInto('snippets')
    .values({ ...snippet, ...repository })
    .returning('id')
    .executeTakeFirstOrThrow();
  const { id: export_id } = await db
    .insertInto('dependency_list_exports')
    .values({ project_id: project.id, user_id: people.admin.id, export_type: 'csv' })
    .returning('id')
    .executeTakeFirstOrThrow();
  const { id: runner_id } = await db
    .insertInto('runners')
    .values({ runner_type: 'project_type', is_registered: false, token_digest: tokenDigest(`runner ${project.id}`) })
    .returning('id')
    .executeTakeFirstOrThrow();
  await db.insertInto('runner_projects').values({ runner_id, project_id: project.id, is_owner: true }).execute();
  return {
    runner_id,
    commit_id: sha,
    sha,
    issue_iid: 1,
    merge_request_iid: 1,
    epic_iid: 1,
    epic_id,
    snippet_id,
    export_id,
  };
}

/** Values for the parameters of a path: the world's project and group with what is in them, and the guest where a user is named. */
export function paramsFor(path: string, { project, group, people }: World, things: Things): Record<string, string> {
  const names = [...path.matchAll(/:(\w+)/g)].map(([, name]) => name!);
  const [collection] = path.split('/').filter((segment) => segment !== '');
  const targets: Record<string, number> = {
    projects: project.id,
    groups: group.id,
    users: people.guest.id,
    namespaces: group.id,
    snippets: things.snippet_id,
    dependency_list_exports: things.export_id,
    runners: things.runner_id,
  };
  const inside: Record<string, number | string> = { ...things, user_id: people.guest.id };
  return Object.fromEntries(
    names.map((name, index) => [name, String((index === 0 ? targets[collection!] : inside[name]) ?? 0)]),
  );
}

/** A guest of the group with a role that has one permission. */
async function guestWith(world: World, permission: Permission): Promise<Caller> {
  const { db, group } = world;
  const person = await world.person();
  const role = { name: permission, base_access_level: levels.guest, [permission]: true };
  const { id } = await db.insertInto('member_roles').values(role).returning('id').executeTakeFirstOrThrow();
  await db.transaction().execute(async (tx) => {
    const member = { group_id: group.id, user_id: person.id, access_level: levels.guest, member_role_id: id };
    await tx.insertInto('members').values(member).execute();
    await refreshAuthorizations(tx, { group_id: group.id }, [person.id]);
  });
  return callerFor(world, person);
}

async function callersOf(world: World): Promise<Callers> {
  const byHead = new Map<string, Caller | undefined>();
  for (const persona of personas) {
    const person = persona === 'anonymous' ? undefined : world.people[persona satisfies Persona];
    byHead.set(persona.slice(0, 5), person && callerFor(world, person, persona === 'admin'));
  }
  const guestsWith = new Map<Permission, Caller>();
  for (const permission of permissions) guestsWith.set(permission, await guestWith(world, permission));
  return { personas: byHead, guestsWith };
}

/** Puts the group into another, because at the top a permission alone removes nothing. */
async function nest({ db, group, people }: World): Promise<void> {
  const { id } = people.admin;
  await db.transaction().execute(async (tx) => {
    const parent_id = await createGroup(tx, { name: 'Above', path: 'above', creator_id: id });
    await transferGroup(tx, { id }, group.id, await groupFor(tx, { id, admin: true } as Caller, String(parent_id)));
  });
}

const cell = (world: World, things: Things, endpoint: AnyEndpoint, caller: Caller | undefined): Promise<string> =>
  ruledBy(world, endpoint, paramsFor(endpoint.path, world, things), caller);

/** What an access rule answers: `ok`, or the status of its refusal. */
export async function ruledBy(
  { services, db }: Pick<World, 'services' | 'db'>,
  endpoint: AnyEndpoint,
  params: Record<string, string>,
  caller: Caller | undefined,
): Promise<string> {
  try {
    await endpoint.access.check({
      ...services,
      caller,
      params,
      method: endpoint.method,
      rightsVersion: () => rightsVersion(db),
    });
    return 'ok';
  } catch (error) {
    if (error instanceof ApiError) return String(error.status);
    throw error;
  }
}

async function table(world: World, things: Things, callers: Callers, visibility: Visibility): Promise<string> {
  await world.db.updateTable('namespaces').set({ visibility }).where('id', '=', world.group.id).execute();
  await world.db.updateTable('projects').set({ visibility }).where('id', '=', world.project.id).execute();
  const head = `${' '.repeat(7 + pathWidth)}${[...callers.personas.keys()].map((name) => name.padEnd(6)).join('')}rule`;
  const rows: string[] = [];
  for (const endpoint of endpoints) {
    const cells = await Promise.all(
      [...callers.personas.values()].map((caller) => cell(world, things, endpoint, caller)),
    );
    const marks = cells.map((each) => each.padEnd(6)).join('');
    const granted = await grantedTo(world, things, endpoint, callers, cells[personas.indexOf('guest')]!);
    rows.push(
      `${endpoint.method.padEnd(7)}${endpoint.path.padEnd(pathWidth)}${marks}${endpoint.access.rule}${granted}`,
    );
  }
  return [`On a ${visibility} project or group`, head, ...rows].join('\n');
}

/** The permissions that let a guest do what guests may not: `; ok with archive_project`. */
async function grantedTo(
  world: World,
  things: Things,
  endpoint: AnyEndpoint,
  { guestsWith }: Callers,
  guest: string,
): Promise<string> {
  if (guest === 'ok') return '';
  const asked = [...guestsWith].map(async ([permission, caller]) =>
    (await cell(world, things, endpoint, caller)) === 'ok' ? `; ok with ${permission}` : '',
  );
  return (await Promise.all(asked)).join('');
}

/**
 * The table for a private and a public project, in a group that stands in another. 401, 403 and 404 are the refusals that the rule answers; what the handler asks beyond it is not shown.
 * @param world one that nothing else is tested in: its project becomes public
 */
export async function accessTable(world: World): Promise<string> {
  await nest(world);
  const things = await addThings(world);
  const callers = await callersOf(world);
  const legend = '"ok with" after a rule: a guest with a custom role that has only this permission may call it, too.';
  const tables = [await table(world, things, callers, 'private'), await table(world, things, callers, 'public')];
  return `${[legend, ...tables].join('\n\n')}\n`;
}
