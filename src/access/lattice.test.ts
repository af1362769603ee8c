/**
 * Nobody grants, edits, rotates or removes anything above his own level or permissions. Random people do random things over HTTP; what they may is worked out from
 * the rows of memberships by a model that is slow and shares nothing with the server.
 */
import assert from 'node:assert/strict';
import { before, test } from 'node:test';
import fc from 'fast-check';
import type { Answer, Client } from '../testing/client.ts';
import { addRole } from '../testing/member_roles.ts';
import { type World, world } from '../testing/world.ts';

interface Place {
  kind: 'group' | 'project';
  id: number;
  /** The groups whose members count here, this one included. */
  groups: number[];
}

interface Holding {
  level: number;
  permissions: ReadonlySet<string>;
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

let here: World;
let people: { id: number; client: Client }[];
/** A level alone, or that of a role with it. */
const grants: { access_level: number; member_role_id?: number | null }[] = [];
let roles: { id: number; level: number; permissions: string[] }[];
/** A group that everybody knows, with a Developer in it. */
let guests: number;

before(async () => {
  here = await world();
  people = [];
  for (let index = 0; index < 5; index++) people.push(await here.person());
  roles = [];
  for (const [level, ...permissions] of kinds) {
    const id = await addRole(here, permissions as Parameters<typeof addRole>[1], { base_access_level: level });
    roles.push({ id, level, permissions });
  }
  grants.push(...[10, 20, 30, 40, 50].flatMap((access_level) => [{ access_level }, { access_level, member_role_id: null }]));
  grants.push(...roles.map(({ id, level }) => ({ access_level: level, member_role_id: id })));
  guests = (await asAdmin('post', '/groups', { name: 'guests', path: 'guests', visibility: 'public' })).id;
  await asAdmin('post', `/groups/${guests}/members`, { user_id: people[4]!.id, access_level: 30 });
});

async function asAdmin(method: 'post' | 'put', path: string, parameters: Record<string, unknown>) {
  const { status, body } = await here.as('admin')[method](path, parameters);
  assert.ok(status < 300, `${path}: ${JSON.stringify(body)}`);
  return body;
}

let count = 0;

/** A group with a subgroup, and a project in each. */
async function places(): Promise<Place[]> {
  const add = async (parent_id?: number) => {
    const name = `lattice-${++count}`;
    return (await asAdmin('post', '/groups', { name, path: name, ...(parent_id === undefined ? {} : { parent_id }) })).id;
  };
  const top = await add();
  const sub = await add(top);
  const project = async (namespace_id: number) =>
    (await asAdmin('post', '/projects', { name: `lattice-${++count}`, namespace_id })).id;
  return [
    { kind: 'group', id: top, groups: [top] },
    { kind: 'group', id: sub, groups: [top, sub] },
    { kind: 'project', id: await project(top), groups: [top] },
    { kind: 'project', id: await project(sub), groups: [top, sub] },
  ];
}

const urlOf = ({ kind, id }: Place) => `/${kind}s/${id}`;
const isOf = ({ kind, id }: Place, row: { group_id: number | null; project_id: number | null }) => row[`${kind}_id`] === id;

/** The rows that decide, and those that somebody could change. */
async function rows() {
  const { db } = here;
  return {
    members: await db
      .selectFrom('members')
      .select(['id', 'group_id', 'project_id', 'user_id', 'access_level', 'member_role_id', 'expires_at'])
      .orderBy('id')
      .execute(),
    links: await db
      .selectFrom('group_links')
      .select(['id', 'group_id', 'project_id', 'invited_group_id', 'access_level'])
      .orderBy('id')
      .execute(),
    tokens: await db
      .selectFrom('personal_access_tokens')
      .innerJoin('access_token_bots as bot', 'bot.user_id', 'personal_access_tokens.user_id')
      .select(['personal_access_tokens.id', 'bot.group_id', 'bot.project_id', 'bot.user_id', 'revoked'])
      .orderBy('personal_access_tokens.id')
      .execute(),
    requests: await db.selectFrom('access_requests').select(['id', 'group_id', 'project_id', 'user_id']).orderBy('id').execute(),
  };
}
type Rows = Awaited<ReturnType<typeof rows>>;
type Membership = Pick<Rows['members'][number], 'access_level' | 'member_role_id'>;

const holdingOf = ({ access_level, member_role_id }: Membership): Holding => ({
  level: access_level,
  permissions: new Set(roles.find(({ id }) => id === member_role_id)?.permissions),
});

/** What somebody holds in a place: by memberships there and above, and by groups that are invited, which bring along levels alone. */
function held({ members, links }: Rows, user_id: number, place: Place): Holding {
  const own = members.filter((row) => row.user_id === user_id);
  const direct = own.filter((row) => isOf(place, row) || (row.group_id !== null && place.groups.includes(row.group_id)));
  const invited = links
    .filter((row) => isOf(place, row) || (row.group_id !== null && place.groups.includes(row.group_id)))
    .flatMap((link) =>
      own
        .filter(({ group_id }) => group_id === link.invited_group_id)
        .map(({ access_level }) => Math.min(access_level, link.access_level)),
    );
  return {
    level: Math.max(0, ...direct.map(({ access_level }) => access_level), ...invited),
    permissions: new Set(direct.flatMap((row) => [...holdingOf(row).permissions])),
  };
}

/** Whether whoever holds `mine` has all of `theirs`. */
const covers = (mine: Holding, theirs: Holding) =>
  theirs.level <= mine.level && [...theirs.permissions].every((one) => mine.permissions.has(one) || mine.level >= anyway[one]!);

const manages = ({ kind }: Place, mine: Holding) =>
  kind === 'group' ? mine.level >= 50 || mine.permissions.has('admin_group_member') : mine.level >= 40;
const managesTokens = ({ kind }: Place, mine: Holding) =>
  mine.level >= (kind === 'group' ? 50 : 40) || mine.permissions.has(`manage_${kind}_access_tokens`);
const shares = ({ kind }: Place, mine: Holding) => mine.level >= (kind === 'group' ? 50 : 40);

type Step = { place: number; actor: number; target: number; grant: number; below: boolean } & {
  do: 'add' | 'add several' | 'change' | 'remove' | 'make token' | 'rotate' | 'revoke' | 'approve' | 'share' | 'unshare';
};

const step: fc.Arbitrary<Step> = fc.record({
  do: fc.constantFrom(
    ...([
      'add',
      'add',
      'change',
      'change',
      'remove',
      'add several',
      'make token',
      'rotate',
      'revoke',
      'approve',
      'share',
      'unshare',
    ] as const),
  ),
  place: fc.nat({ max: 3 }),
  actor: fc.nat({ max: 4 }),
  target: fc.nat({ max: 20 }),
  // Mostly little, which more people may give.
  grant: fc.oneof(fc.nat({ max: 3 }), fc.nat({ max: 40 })),
  below: fc.boolean(),
});

const oneOf = <T>(list: readonly T[], index: number): T => list[index % list.length]!;
const expires_at = new Date(Date.now() + 20 * 86_400_000).toISOString().slice(0, 10);
const tokenRequest = (access_level: number) => ({ name: 'program', scopes: ['api'], expires_at, access_level });

/** What one step sends, and whether the model lets the actor do it. */
interface Attempt {
  send(client: Client): Promise<Answer>;
  may: boolean;
}

/** Who can be the target: the people, and the programs of the place. */
const targets = (before: Rows, place: Place) => [
  ...people.map(({ id }) => id),
  ...before.tokens.filter((row) => isOf(place, row)).map(({ user_id }) => user_id),
];

function attempt(before: Rows, all: readonly Place[], { do: what, ...given }: Step): Attempt {
  const place = oneOf(all, given.place);
  const actor = oneOf(people, given.actor).id;
  const mine = held(before, actor, place);
  const grant = oneOf(grants, given.grant);
  const wanted = holdingOf({ member_role_id: null, ...grant });
  const user_id = oneOf(
    what.startsWith('add') || what === 'approve' ? people.map(({ id }) => id) : targets(before, place),
    given.target,
  );
  const member = before.members.find((row) => isOf(place, row) && row.user_id === user_id);
  const isSelf = user_id === actor;
  const members = `${urlOf(place)}/members`;
  const decides = manages(place, mine) && covers(mine, wanted);
  switch (what) {
    case 'add':
      return { send: (client) => client.post(members, { user_id, ...grant }), may: decides };
    case 'add several':
      return { send: (client) => client.post(members, { user_id: people.map(({ id }) => id), ...grant }), may: decides };
    case 'change':
      return {
        send: (client) => client.put(`${members}/${user_id}`, { ...grant }),
        may: decides && (isSelf || !member || covers(mine, holdingOf(member))),
      };
    case 'remove': {
      const inside = all.filter(({ groups }) => place.kind === 'group' && groups.includes(place.id));
      const lost = before.members.filter((row) => row.user_id === user_id && inside.some((one) => isOf(one, row)));
      const may = manages(place, mine) && (!member || covers(mine, holdingOf(member)));
      const mayInside = !given.below || mine.level >= 50 || lost.every((row) => covers(mine, holdingOf(row)));
      return {
        send: (client) => client.delete(`${members}/${user_id}?skip_subresources=${!given.below}`),
        may: isSelf || (may && mayInside),
      };
    }
    case 'approve':
      return {
        send: (client) => client.put(`${urlOf(place)}/access_requests/${user_id}/approve`, { access_level: grant.access_level }),
        may: manages(place, mine) && grant.access_level <= mine.level,
      };
    case 'share':
      return {
        send: (client) => client.post(`${urlOf(place)}/share`, { group_id: guests, group_access: grant.access_level }),
        may: shares(place, mine) && grant.access_level <= mine.level,
      };
    case 'unshare': {
      const link = before.links.find((row) => isOf(place, row));
      return {
        send: (client) => client.delete(`${urlOf(place)}/share/${guests}`),
        may: shares(place, mine) && (!link || link.access_level <= mine.level),
      };
    }
    default:
      return tokenAttempt(before, place, { what, mine, grant: grant.access_level, target: given.target });
  }
}

function tokenAttempt(
  before: Rows,
  place: Place,
  { what, mine, grant, target }: { what: 'make token' | 'rotate' | 'revoke'; mine: Holding; grant: number; target: number },
): Attempt {
  const url = `${urlOf(place)}/access_tokens`;
  const may = managesTokens(place, mine);
  if (what === 'make token') return { send: (client) => client.post(url, tokenRequest(grant)), may: may && grant <= mine.level };
  const token = oneOf(
    before.tokens.filter((row) => isOf(place, row)),
    target,
  );
  const program = before.members.find((row) => isOf(place, row) && row.user_id === token.user_id);
  return {
    send: (client) => (what === 'rotate' ? client.post(`${url}/${token.id}/rotate`) : client.delete(`${url}/${token.id}`)),
    may: may && (!program || covers(mine, holdingOf(program))),
  };
}

/** Whatever has changed between two moments is covered by what the actor held where it changed; his own membership he may give up. */
function checkChanges(before: Rows, now: Rows, all: readonly Place[], actor: number): void {
  const placeOf = (row: { group_id: number | null; project_id: number | null }) => all.find((place) => isOf(place, row))!;
  const changed = <T extends { id: number }>(left: readonly T[], right: readonly T[]) =>
    left.filter((row) => JSON.stringify(row) !== JSON.stringify(right.find(({ id }) => id === row.id)));
  const lost = changed(before.members, now.members).filter(({ user_id }) => user_id !== actor);
  for (const row of [...lost, ...changed(now.members, before.members)])
    assert.ok(
      covers(held(before, actor, placeOf(row)), holdingOf(row)),
      `a membership is above its actor: ${JSON.stringify(row)}`,
    );
  for (const row of [...changed(before.links, now.links), ...changed(now.links, before.links)])
    assert.ok(
      row.access_level <= held(before, actor, placeOf(row)).level,
      `an invitation is above its actor: ${JSON.stringify(row)}`,
    );
  for (const row of [...changed(before.tokens, now.tokens), ...changed(now.tokens, before.tokens)]) {
    const program = [...before.members, ...now.members].filter(({ user_id }) => user_id === row.user_id);
    for (const membership of program)
      assert.ok(
        covers(held(before, actor, placeOf(row)), holdingOf(membership)),
        `a token is above its actor: ${JSON.stringify(row)}`,
      );
  }
}

const refused = [401, 403, 404];

async function perform(all: readonly Place[], one: Step): Promise<'done' | 'refused' | 'impossible'> {
  const actor = oneOf(people, one.actor);
  if (one.do === 'approve') await ask(oneOf(all, one.place), oneOf(people, one.target).id);
  const earlier = await rows();
  const { send, may } = attempt(earlier, all, one);
  const { status, body } = await send(actor.client);
  const now = await rows();
  const story = `${JSON.stringify(one)} answers ${status} ${JSON.stringify(body)}`;
  assert.ok(status < 500, story);
  if (!may) {
    assert.ok(refused.includes(status) || status === 400, `not refused: ${story}`);
    assert.deepEqual(now, earlier, `refused, and changed something: ${story}`);
    return 'refused';
  }
  assert.ok(status !== 401 && status !== 403, `refused without need: ${story}`);
  checkChanges(earlier, now, all, actor.id);
  return status < 300 ? 'done' : 'impossible';
}

/** Somebody asks to become a member, wherever that is; who is one already asks for nothing. */
async function ask({ kind, id }: Place, user_id: number): Promise<void> {
  const place = kind === 'group' ? { group_id: id } : { project_id: id };
  const { rows: there } = {
    rows: await here.db.selectFrom('members').select('id').where(`${kind}_id`, '=', id).where('user_id', '=', user_id).execute(),
  };
  if (there.length > 0) return;
  await here.db
    .insertInto('access_requests')
    .values({ ...place, user_id })
    .onConflict((conflict) => conflict.doNothing())
    .execute();
}

/** Mostly far up, from where it reaches everything. */
const start = fc.record({
  place: fc.oneof(fc.constant(0), fc.nat({ max: 3 })),
  user: fc.nat({ max: 4 }),
  grant: fc.integer({ min: 4, max: 17 }),
});

test('nobody grants, edits, rotates or removes anything above his own level or permissions', async () => {
  const outcomes = { done: 0, refused: 0, impossible: 0 };
  const sequences = fc.asyncProperty(
    fc.array(start, { minLength: 6, maxLength: 12, size: 'max' }),
    fc.array(step, { minLength: 10, maxLength: 25, size: 'max' }),
    async (beginning, steps) => {
      const all = await places();
      for (const { place, user, grant } of beginning)
        await here
          .as('admin')
          .post(`${urlOf(oneOf(all, place))}/members`, { user_id: oneOf(people, user).id, ...oneOf(grants, grant) });
      for (const place of all)
        for (const level of [10, 50]) await asAdmin('post', `${urlOf(place)}/access_tokens`, tokenRequest(level));
      for (const one of steps) outcomes[await perform(all, one)] += 1;
    },
  );
  // The message tells the step, which says more than the shortest way there.
  await fc.assert(sequences, { numRuns: 10, endOnFailure: true });
  assert.ok(outcomes.done > 10 && outcomes.refused > 40, `too little was tried: ${JSON.stringify(outcomes)}`);
});
