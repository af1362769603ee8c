/** Who may call what: every access rule, asked as every persona. The table is committed as docs/access.txt and reviewed as a diff. */
import { endpoints } from '../areas/index.ts';
import type { AnyEndpoint, Caller } from '../http/index.ts';
import { ApiError } from '../http/index.ts';
import type { Persona, World } from './populate.ts';

const personas = ['anonymous', 'outsider', 'guest', 'planner', 'reporter', 'developer', 'maintainer', 'owner', 'admin'] as const;

type Visibility = 'private' | 'public';

function callerFor({ people, url }: World, persona: Persona): Caller {
  const { id, username } = people[persona];
  return {
    id,
    username,
    name: username,
    email: `${username}@${new URL(url).hostname}`,
    commit_email: `${username}@${new URL(url).hostname}`,
    state: 'active',
    admin: persona === 'admin',
    external: false,
    token: { id: 0, scopes: ['api'], kind: 'personal' },
    sudo: false,
    counted: false,
  };
}

/** What is looked for below a project or group: an issue and an epic, of nobody that is asked about. */
interface Things {
  issue_iid: number;
  epic_iid: number;
  epic_id: number;
}

async function addThings({ db, project, group }: World): Promise<Things> {
  await db.insertInto('issues').values({ project_id: project.id, iid: 1, title: 'An issue' }).execute();
  const epic = db.insertInto('epics').values({ group_id: group.id, iid: 1, title: 'An epic' }).returning('id');
  return { issue_iid: 1, epic_iid: 1, epic_id: (await epic.executeTakeFirstOrThrow()).id };
}

/** What stands for the parameters of a path: the world's project and group with what is in them, and the guest where a user is named. */
function paramsFor(path: string, { project, group, people }: World, things: Things): Record<string, string> {
  const names = [...path.matchAll(/:(\w+)/g)].map(([, name]) => name!);
  const [collection] = path.split('/').filter((segment) => segment !== '');
  const targets: Record<string, number> = {
    projects: project.id,
    groups: group.id,
    users: people.guest.id,
    namespaces: group.id,
  };
  const inside: Record<string, number> = { ...things, user_id: people.guest.id };
  return Object.fromEntries(names.map((name, index) => [name, String((index === 0 ? targets[collection!] : inside[name]) ?? 0)]));
}

async function cell(world: World, things: Things, endpoint: AnyEndpoint, persona: (typeof personas)[number]): Promise<string> {
  const caller = persona === 'anonymous' ? undefined : callerFor(world, persona);
  try {
    const params = paramsFor(endpoint.path, world, things);
    await endpoint.access.check({ ...world.services, caller, params, method: endpoint.method });
    return 'ok';
  } catch (error) {
    if (error instanceof ApiError) return String(error.status);
    throw error;
  }
}

async function table(world: World, things: Things, visibility: Visibility): Promise<string> {
  await world.db.updateTable('namespaces').set({ visibility }).where('id', '=', world.group.id).execute();
  await world.db.updateTable('projects').set({ visibility }).where('id', '=', world.project.id).execute();
  const width = Math.max(...endpoints.map(({ path }) => path.length)) + 2;
  const head = `${' '.repeat(7 + width)}${personas.map((persona) => persona.slice(0, 5).padEnd(6)).join('')}rule`;
  const rows: string[] = [];
  for (const endpoint of endpoints) {
    const cells: string[] = [];
    for (const persona of personas) cells.push((await cell(world, things, endpoint, persona)).padEnd(6));
    rows.push(`${endpoint.method.padEnd(7)}${endpoint.path.padEnd(width)}${cells.join('')}${endpoint.access.rule}`);
  }
  return [`On a ${visibility} project or group`, head, ...rows].join('\n');
}

/**
 * The table for a private and a public project. 401, 403 and 404 are the refusals that the rule answers; what the handler asks beyond it is not shown.
 * @param world one that nothing else is tested in: its project becomes public
 */
export async function accessTable(world: World): Promise<string> {
  const things = await addThings(world);
  return `${await table(world, things, 'private')}\n\n${await table(world, things, 'public')}\n`;
}
