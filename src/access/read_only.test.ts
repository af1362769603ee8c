/** Archived or marked for deletion × every write: what a place refuses that is one of the two, or stands in such a group. */
import assert from 'node:assert/strict';
import { test } from 'node:test';
import { sql } from 'kysely';
import { addThings, callerFor, paramsFor, ruledBy } from '../../test/support/access_table.ts';
import { filledWorld } from '../../test/support/repository.ts';
import { sent } from '../../test/support/sent.ts';
import { type World, world } from '../../test/support/world.ts';
import { endpoints } from '../areas/index.ts';

/** The place that gets a state, and the state. */
const states = [
  ['projects', 'archived'],
  ['projects', 'marked_for_deletion_at'],
  ['namespaces', 'archived'],
  ['namespaces', 'marked_for_deletion_at'],
] as const;
type State = (typeof states)[number];

async function put({ db }: Pick<World, 'db'>, [table, column]: State, id: number, isOn: boolean): Promise<void> {
  const value = column === 'archived' ? sql`${isOn}` : isOn ? sql`now()` : sql`null`;
  await sql`update ${sql.table(table)} set ${sql.ref(column)} = ${value} where id = ${id}`.execute(db);
}

/** Writes that change settings of the place, or who belongs to it, or nothing in it: by method and the rest of the path. */
const settings = {
  projects: [
    'access_requests access_tokens archive custom_attributes dependency_list_exports deploy_keys deploy_tokens export_relations hooks housekeeping',
    'import_project_members invitations members notification_settings remote_mirrors repository_storage_moves restore runners share star',
    'transfer unarchive unstar',
  ],
  groups: [
    'access_requests access_tokens archive audit_event_streaming_destinations badges billable_members compliance_frameworks custom_attributes deploy_tokens export_relations hooks',
    'invitations ldap_group_links ldap_sync member_roles members',
    'merge_request_approval_setting notification_settings placeholders projects protected_branches protected_environments push_rule repository_storage_moves',
    'restore runners saml_group_links security_policy_project service_accounts share transfer unarchive variables',
  ],
};

/** Single ones, beside others of the same noun that change content. */
const single = ['POST ci/lint', 'POST fork', 'PUT mirror/pull', 'POST push_rule/check'];

const isSetting = (kind: 'projects' | 'groups', method: string, rest: string): boolean =>
  rest === '' ||
  single.includes(`${method} ${rest}`) ||
  settings[kind].some((names) => names.split(' ').some((name) => rest === name || rest.startsWith(`${name}/`)));

const isReading = (method: string) => method === 'GET' || method === 'HEAD';

test('every write below a project or group is refused while it is read-only, except for settings and members', async () => {
  const here = await world();
  const things = await addThings(here);
  const { project, group, people } = here;
  const admin = callerFor(here, people.admin, true);
  const writes = endpoints.flatMap((endpoint) => {
    const [, kind, rest = ''] = /^\/(projects|groups)\/:id(?:\/(.*))?$/.exec(endpoint.path) ?? [];
    if (isReading(endpoint.method) || (kind !== 'projects' && kind !== 'groups')) return [];
    const { method, path } = endpoint;
    return [{ endpoint, kind, isOpen: isSetting(kind, method, rest), name: `${method} ${path}` }];
  });
  const ruled = (write: (typeof writes)[number]) =>
    ruledBy(here, write.endpoint, paramsFor(write.endpoint.path, here, things), admin);
  const usable = new Map<string, string>();
  for (const write of writes) usable.set(write.name, await ruled(write));
  for (const state of states) {
    const [table] = state;
    const id = table === 'projects' ? project.id : group.id;
    await put(here, state, id, true);
    for (const write of writes) {
      const isMeant = write.kind === 'projects' || table === 'namespaces';
      const expected = isMeant && !write.isOpen ? '403' : usable.get(write.name);
      assert.equal(await ruled(write), expected, `${write.name}, ${state.join(' ')}`);
    }
    await put(here, state, id, false);
  }
});

/** A place that is read-only, with something that a write elsewhere reaches. */
interface Elsewhere {
  group: number;
  project: number;
  issue: { id: number; iid: number };
  epic: { id: number; iid: number };
  /** A board of the group. */
  board: number;
}

interface Reach {
  /** What the write must not change there. */
  write(
    here: World & { own: { issue: number; iid: number; epic: number } },
    there: Elsewhere,
  ): Promise<{ status: number }>;
  /** The status of the refusal. */
  refused: number;
  /** The same where the project is archived itself, if it differs: boards of groups leave out its issues. */
  refused_archived?: number;
}

/** Writes whose path names a place of the caller, and whose parameters name the read-only one. */
const reaching: Readonly<Record<string, Reach>> = {
  'an issue is moved there': {
    write: ({ as, project, own }, there) =>
      as('admin').post(`/projects/${project.id}/issues/${own.iid}/move`, { to_project_id: there.project }),
    refused: 400,
  },
  'an issue is cloned there': {
    write: ({ as, project, own }, there) =>
      as('admin').post(`/projects/${project.id}/issues/${own.iid}/clone`, { to_project_id: there.project }),
    refused: 400,
  },
  'an issue is linked to one there': {
    write: ({ as, project, own }, there) =>
      as('admin').post(`/projects/${project.id}/issues/${own.iid}/links`, {
        target_project_id: there.project,
        target_issue_iid: there.issue.iid,
      }),
    refused: 403,
  },
  'an issue there is closed on a board of its group': {
    write: ({ as }, there) =>
      as('admin').put(`/groups/${there.group}/boards/${there.board}/issues/${there.issue.id}/move`, {
        to_list_id: 'closed',
      }),
    refused: 403,
    refused_archived: 404,
  },
  'an issue there is added to an epic': {
    write: ({ as, group, own }, there) =>
      as('admin').post(`/groups/${group.id}/epics/${own.epic}/issues/${there.issue.id}`),
    refused: 403,
  },
};

/** The same for groups. */
const reachingGroups: Readonly<Record<string, Reach>> = {
  'an issue is added to an epic there': {
    write: ({ as, project, own }, there) =>
      as('admin').put(`/projects/${project.id}/issues/${own.iid}`, { epic_id: there.epic.id }),
    refused: 422,
  },
  'a new issue is added to an epic there': {
    write: ({ as, project }, there) =>
      as('admin').post(`/projects/${project.id}/issues`, { title: 'New', epic_id: there.epic.id }),
    refused: 422,
  },
  'an epic becomes a child of one there': {
    write: ({ as, group, own }, there) =>
      as('admin').put(`/groups/${group.id}/epics/${own.epic}`, { parent_id: there.epic.id }),
    refused: 400,
  },
  'an epic is linked to one there': {
    write: ({ as, group, own }, there) =>
      as('admin').post(`/groups/${group.id}/epics/${own.epic}/related_epics`, {
        target_group_id: there.group,
        target_epic_iid: there.epic.iid,
      }),
    refused: 403,
  },
  'a group is created there': {
    write: ({ as }, there) => as('admin').post('/groups', { name: 'fresh', path: 'fresh', parent_id: there.group }),
    refused: 403,
  },
  'a project is created there': {
    write: ({ as }, there) => as('admin').post('/projects', { name: 'fresh fruit', namespace_id: there.group }),
    refused: 400,
  },
  'a project is forked there': {
    write: ({ as, project }, there) =>
      as('admin').post(`/projects/${project.id}/fork`, { namespace_id: there.group, name: 'forked', path: 'forked' }),
    refused: 404,
  },
  'a project is transferred there': {
    write: ({ as, project }, there) => as('admin').put(`/projects/${project.id}/transfer`, { namespace: there.group }),
    refused: 400,
  },
  'a group is transferred there': {
    write: ({ as, group }, there) => as('admin').post(`/groups/${group.id}/transfer`, { group_id: there.group }),
    refused: 400,
  },
};

test('writes elsewhere reach no read-only project or group', async () => {
  const here = await filledWorld();
  const client = here.as('admin');
  const made = await sent(client.post('/groups', { name: 'there', path: `there-${here.group.id}` }));
  const project = await sent(client.post('/projects', { name: 'there', namespace_id: made.id }));
  const there: Elsewhere = {
    group: made.id,
    project: project.id,
    issue: await sent(client.post(`/projects/${project.id}/issues`, { title: 'There' })),
    epic: await sent(client.post(`/groups/${made.id}/epics`, { title: 'There' })),
    board: (await sent(client.post(`/groups/${made.id}/boards`, { name: 'There' }))).id,
  };
  const epic = await sent(client.post(`/groups/${here.group.id}/epics`, { title: 'Here' }));
  const answers: string[] = [];
  const expected: string[] = [];
  const all = [...Object.entries(reaching), ...Object.entries(reachingGroups)];
  for (const [name, { write, refused, refused_archived = refused }] of all) {
    const { id: issue, iid } = await sent(client.post(`/projects/${here.project.id}/issues`, { title: name }));
    const own = { issue, iid, epic: epic.iid };
    for (const state of name in reaching ? states : states.slice(2)) {
      const [table, column] = state;
      const id = table === 'projects' ? there.project : there.group;
      await put(here, state, id, true);
      answers.push(`${name}, ${state.join(' ')}: ${(await write({ ...here, own }, there)).status}`);
      const isArchived = table === 'projects' && column === 'archived';
      expected.push(`${name}, ${state.join(' ')}: ${isArchived ? refused_archived : refused}`);
      await put(here, state, id, false);
    }
  }
  assert.deepEqual(answers, expected);
  for (const [name, { write }] of all) {
    const { id: issue, iid } = await sent(client.post(`/projects/${here.project.id}/issues`, { title: name }));
    const { status } = await write({ ...here, own: { issue, iid, epic: epic.iid } }, there);
    assert.ok(status < 300, `${name}: ${status}`);
  }
});
