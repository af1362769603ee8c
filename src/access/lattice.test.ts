/**
 * No user can grant, edit, rotate or remove anything above their own level or permissions. Random users perform random actions over HTTP; a model computes what they
 * may do.
 */
import assert from 'node:assert/strict';
import { before, test } from 'node:test';
import fc from 'fast-check';
import { sql } from 'kysely';
import type { Answer, Client } from '../../test/support/client.ts';
import {
  type Arena,
  addArena,
  addresses,
  ask,
  begin,
  covers,
  type Holding,
  held,
  holdingOf,
  isOf,
  type Place,
  type Rows,
  rows,
  tokenRequest,
  urlOf,
} from '../../test/support/lattice.ts';
import { runs } from '../../test/support/runs.ts';
import { linkOf } from '../areas/spaces/invitations/link_rules.ts';

let arena: Arena;
before(async () => {
  arena = await addArena();
});

const manages = ({ kind }: Place, mine: Holding) =>
  kind === 'group' ? mine.level >= 50 || mine.permissions.has('admin_group_member') : mine.level >= 40;
const managesTokens = ({ kind }: Place, mine: Holding) =>
  mine.level >= (kind === 'group' ? 50 : 40) || mine.permissions.has(`manage_${kind}_access_tokens`);
const shares = ({ kind }: Place, mine: Holding) => mine.level >= (kind === 'group' ? 50 : 40);

const ofMembers = ['add', 'add several', 'change', 'remove', 'approve', 'share', 'unshare'] as const;
const ofTokens = ['make token', 'rotate', 'revoke'] as const;
const ofInvitations = [
  'invite',
  'invite user',
  'change invitation',
  'extend invitation',
  'withdraw',
  'accept',
] as const;
type Of<Names extends readonly string[]> = Names[number];

interface Step<What = Of<typeof ofMembers> | Of<typeof ofTokens> | Of<typeof ofInvitations>> {
  do: What;
  place: number;
  actor: number;
  target: number;
  grant: number;
  below: boolean;
}

const step: fc.Arbitrary<Step> = fc.record({
  do: fc.constantFrom(...ofMembers, 'add', 'change', ...ofTokens, ...ofInvitations, 'invite'),
  place: fc.nat({ max: 3 }),
  actor: fc.nat({ max: 4 }),
  target: fc.nat({ max: 20 }),
  // Mostly few permissions, which more users may give.
  grant: fc.oneof(fc.nat({ max: 3 }), fc.nat({ max: 40 })),
  below: fc.boolean(),
});

const oneOf = <T>(list: readonly T[], index: number): T => list[index % list.length]!;
const isOneOf = <T extends string>(list: readonly T[], what: string): what is T =>
  (list as readonly string[]).includes(what);

/** The request of one step, and whether the model allows it. */
interface Attempt {
  send(client: Client): Promise<Answer>;
  may: boolean;
}

/** The subject of a step. */
interface Scene {
  before: Rows;
  place: Place;
  actor: number;
  /** The actor's access there. */
  mine: Holding;
  grant: Arena['grants'][number];
  /** Whether the actor may give it. */
  decides: boolean;
}

function attempt(before: Rows, given: Step): Attempt {
  const place = oneOf(arena.places, given.place);
  const actor = oneOf(arena.people, given.actor).id;
  const mine = held(arena, before, actor, place);
  const grant = oneOf(arena.grants, given.grant);
  const decides = manages(place, mine) && covers(mine, holdingOf(arena, grant));
  const scene = { before, place, actor, mine, grant, decides };
  const { do: what } = given;
  if (isOneOf(ofMembers, what)) return memberAttempt(scene, { ...given, do: what });
  return isOneOf(ofTokens, what)
    ? tokenAttempt(scene, { ...given, do: what })
    : invitationAttempt(scene, { ...given, do: what });
}

/** Possible targets: people, and bot users of the group or project. */
const targets = (before: Rows, place: Place) => [
  ...arena.people.map(({ id }) => id),
  ...before.tokens.filter((row) => isOf(place, row)).map(({ user_id }) => user_id),
];

function memberAttempt(scene: Scene, { do: what, target, below }: Step<Of<typeof ofMembers>>): Attempt {
  const { before, place, mine, grant, decides, actor } = scene;
  const everyone = arena.people.map(({ id }) => id);
  const user_id = oneOf(what.startsWith('add') || what === 'approve' ? everyone : targets(before, place), target);
  const member = before.members.find((row) => isOf(place, row) && row.user_id === user_id);
  const isSelf = user_id === actor;
  const members = `${urlOf(place)}/members`;
  switch (what) {
    case 'add':
      return { send: (client) => client.post(members, { user_id, ...grant }), may: decides };
    case 'add several':
      return { send: (client) => client.post(members, { user_id: everyone, ...grant }), may: decides };
    case 'change':
      return {
        send: (client) => client.put(`${members}/${user_id}`, { ...grant }),
        may: decides && (isSelf || !member || covers(mine, holdingOf(arena, member))),
      };
    case 'remove': {
      const inside = arena.places.filter(({ groups }) => place.kind === 'group' && groups.includes(place.id));
      const lost = before.members.filter((row) => row.user_id === user_id && inside.some((one) => isOf(one, row)));
      const may = manages(place, mine) && (!member || covers(mine, holdingOf(arena, member)));
      const mayInside = !below || mine.level >= 50 || lost.every((row) => covers(mine, holdingOf(arena, row)));
      return {
        send: (client) => client.delete(`${members}/${user_id}?skip_subresources=${!below}`),
        may: isSelf || (may && mayInside),
      };
    }
    case 'approve':
      return {
        send: (client) =>
          client.put(`${urlOf(place)}/access_requests/${user_id}/approve`, { access_level: grant.access_level }),
        may: manages(place, mine) && grant.access_level <= mine.level,
      };
    case 'share':
      return {
        send: (client) =>
          client.post(`${urlOf(place)}/share`, { group_id: arena.guests, group_access: grant.access_level }),
        may: shares(place, mine) && grant.access_level <= mine.level,
      };
    case 'unshare': {
      const link = before.links.find((row) => isOf(place, row));
      return {
        send: (client) => client.delete(`${urlOf(place)}/share/${arena.guests}`),
        may: shares(place, mine) && (!link || link.access_level <= mine.level),
      };
    }
  }
}

function tokenAttempt({ before, place, mine, grant }: Scene, { do: what, target }: Step<Of<typeof ofTokens>>): Attempt {
  const { access_level } = grant;
  const url = `${urlOf(place)}/access_tokens`;
  const may = managesTokens(place, mine);
  if (what === 'make token')
    return { send: (client) => client.post(url, tokenRequest(access_level)), may: may && access_level <= mine.level };
  const token = oneOf(
    before.tokens.filter((row) => isOf(place, row)),
    target,
  );
  const program = before.members.find((row) => isOf(place, row) && row.user_id === token.user_id);
  return {
    send: (client) =>
      what === 'rotate' ? client.post(`${url}/${token.id}/rotate`) : client.delete(`${url}/${token.id}`),
    may: may && (!program || covers(mine, holdingOf(arena, program))),
  };
}

function invitationAttempt(scene: Scene, { do: what, actor, target }: Step<Of<typeof ofInvitations>>): Attempt {
  const { before, place, mine, grant, decides } = scene;
  const url = `${urlOf(place)}/invitations`;
  const here = before.invitations.filter((row) => isOf(place, row));
  const email = here.length > 0 ? oneOf(here, target).invite_email : addresses[0]!;
  const invitation = here.find((row) => row.invite_email === email);
  const mayTouch = manages(place, mine) && (!invitation || covers(mine, holdingOf(arena, invitation)));
  switch (what) {
    case 'invite':
      return { send: (client) => client.post(url, { email: oneOf(addresses, target), ...grant }), may: decides };
    case 'invite user':
      return {
        send: (client) => client.post(url, { user_id: oneOf(arena.people, target).id, ...grant }),
        may: decides,
      };
    case 'change invitation':
      return {
        send: (client) => client.put(`${url}/${email}`, { access_level: grant.access_level }),
        may: mayTouch && grant.access_level <= mine.level,
      };
    case 'extend invitation':
      return {
        send: (client) => client.put(`${url}/${email}`, { expires_at: target % 2 === 0 ? '' : '2999-01-01' }),
        may: mayTouch,
      };
    case 'withdraw':
      return { send: (client) => client.delete(`${url}/${email}`), may: mayTouch };
    case 'accept':
      return { send: () => accept(oneOf(arena.people, actor), invitation), may: true };
  }
}

/** A user confirms the invited address and follows the link. They release the address afterwards, so that it can be invited again. */
async function accept(
  person: Arena['people'][number],
  invitation: Rows['invitations'][number] | undefined,
): Promise<Answer> {
  const { url, db, services } = arena.world;
  const link = linkOf(url, services.secrets, invitation?.seed ?? '00000000-0000-4000-8000-000000000000');
  const email = invitation?.invite_email ?? addresses[0]!;
  await db.insertInto('emails').values({ user_id: person.id, email, confirmed_at: sql<string>`now()` }).execute();
  const response = await fetch(`${link}/accept`, { method: 'POST', headers: { 'private-token': person.token } });
  await db.deleteFrom('emails').where('email', '=', email).execute();
  return { status: response.status, headers: response.headers, body: await response.text() };
}

type Change<T> = { was?: T; is?: T };
const changes = <T extends { id: number }>(left: readonly T[], right: readonly T[]): Change<T>[] =>
  [...new Set([...left, ...right].map(({ id }) => id))]
    .map((id) => ({ was: left.find((row) => row.id === id), is: right.find((row) => row.id === id) }))
    .filter(({ was, is }) => JSON.stringify(was) !== JSON.stringify(is)) as Change<T>[];
const sides = <T>({ was, is }: Change<T>): T[] => [was, is].filter((row) => row !== undefined);

/** Every change between two snapshots is covered by the actor's access there; actors may give up their own. */
function checkChanges(before: Rows, now: Rows, actor: number): void {
  const placeOf = (row: { group_id: number | null; project_id: number | null }) =>
    arena.places.find((place) => isOf(place, row))!;
  const check = (row: Rows['members'][number] | Rows['invitations'][number], what: string) =>
    assert.ok(
      covers(held(arena, before, actor, placeOf(row)), holdingOf(arena, row)),
      `${what} is above its actor: ${JSON.stringify(row)}`,
    );
  const gone = new Set<number | null>();
  for (const change of changes(before.members, now.members)) {
    for (const row of sides(change)) if (row !== change.was || row.user_id !== actor) check(row, 'a membership');
    if (change.is === undefined) gone.add(change.was!.user_id);
  }
  for (const change of changes(before.invitations, now.invitations)) {
    // Pending actions of a member end with the membership.
    if (change.is === undefined && gone.has(change.was!.created_by_id)) continue;
    for (const row of sides(change)) check(row, 'an invitation');
  }
  for (const row of changes(before.links, now.links).flatMap(sides))
    assert.ok(
      row.access_level <= held(arena, before, actor, placeOf(row)).level,
      `an invitation of a group is above its actor: ${JSON.stringify(row)}`,
    );
  for (const { user_id } of changes(before.tokens, now.tokens).flatMap(sides))
    for (const row of [...before.members, ...now.members]) if (row.user_id === user_id) check(row, 'a token');
}

/** An accepted invitation gives its access to the user who accepts it, and changes nothing else. */
function checkAcceptance(before: Rows, now: Rows, actor: number): void {
  const [answered, ...others] = changes(before.invitations, now.invitations).map(({ was }) => was);
  assert.deepEqual(others, []);
  for (const { was, is } of changes(before.members, now.members)) {
    assert.deepEqual([was, is!.user_id], [undefined, actor]);
    const said = ({
      group_id,
      project_id,
      access_level,
      member_role_id,
      expires_at,
    }: Omit<Rows['members'][number], 'id' | 'user_id'>) => ({
      group_id,
      project_id,
      access_level,
      member_role_id,
      // An invitation ends at an instant, a membership on a day.
      expires_at: expires_at?.slice(0, 10) ?? null,
    });
    assert.deepEqual(said(is!), said(answered!));
  }
  assert.deepEqual([now.links, now.tokens], [before.links, before.tokens]);
}

const refusals = [400, 401, 403, 404];
/** A request to invite people succeeds, and its response gives the reasons for failures. */
const isRefusal = ({ status, body }: Answer) => refusals.includes(status) || body?.status === 'error';

async function perform(earlier: Rows, one: Step): Promise<{ outcome: 'done' | 'refused' | 'impossible'; now: Rows }> {
  const actor = oneOf(arena.people, one.actor);
  const { send, may } = attempt(earlier, one);
  const answer = await send(actor.client);
  const { status, body } = answer;
  const now = await rows(arena.world);
  const story = `${JSON.stringify(one)} answers ${status} ${JSON.stringify(body)}`;
  assert.ok(status < 500, story);
  if (!may) {
    assert.ok(isRefusal(answer), `not refused: ${story}`);
    assert.deepEqual(now, earlier, `refused, and changed something: ${story}`);
    return { outcome: 'refused', now };
  }
  assert.ok(status !== 401 && status !== 403, `refused without need: ${story}`);
  (one.do === 'accept' ? checkAcceptance : checkChanges)(earlier, now, actor.id);
  return { outcome: isRefusal(answer) ? 'impossible' : 'done', now };
}

/** Mostly near the top level, from where it reaches everything. */
const start = fc.record({
  place: fc.oneof(fc.constant(0), fc.nat({ max: 3 })),
  user: fc.nat({ max: 4 }),
  grant: fc.integer({ min: 4, max: 17 }),
});

test('users cannot grant, edit, rotate or remove anything above their own level or permissions', async () => {
  const outcomes = { done: 0, refused: 0, impossible: 0 };
  const sequences = fc.asyncProperty(
    fc.array(start, { minLength: 6, maxLength: 12, size: 'max' }),
    fc.array(step, { minLength: 20, maxLength: 40, size: 'max' }),
    async (beginning, steps) => {
      const { places, people, grants } = arena;
      await begin(
        arena,
        beginning.map(({ place, user, grant }) => ({
          place: oneOf(places, place),
          user_id: oneOf(people, user).id,
          grant: oneOf(grants, grant),
        })),
      );
      let now = await rows(arena.world);
      for (const one of steps) {
        if (one.do === 'approve') {
          await ask(arena.world, oneOf(places, one.place), oneOf(people, one.target).id);
          now = await rows(arena.world);
        }
        const result = await perform(now, one);
        now = result.now;
        outcomes[result.outcome] += 1;
      }
    },
  );
  // The message names the step, which says more than the shortest sequence.
  await fc.assert(sequences, { numRuns: runs(6, 60), endOnFailure: true });
  assert.ok(outcomes.done > 10 && outcomes.refused > 40, `too little was tried: ${JSON.stringify(outcomes)}`);
});
