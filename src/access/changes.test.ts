import assert from 'node:assert/strict';
import { test } from 'node:test';
import type { Client } from '../../test/support/client.ts';
import { randomFrom, seedOfToday } from '../../test/support/random.ts';
import { runs } from '../../test/support/runs.ts';
import { untilLockWaits } from '../../test/support/waiting.ts';
import { type World, world } from '../../test/support/world.ts';
import { daysFromNow } from '../cron/index.ts';

type Kind = 'group' | 'project';

/**
 * Makes calls that all pass their access rule and then wait for the tree, and lets them go on together.
 * @param meanwhile what happens while they wait
 */
async function interleaved<T>(
  { db, group }: World,
  calls: readonly (() => Promise<T>)[],
  meanwhile: () => Promise<unknown> = async () => undefined,
): Promise<T[]> {
  let answers: Promise<T[]> | undefined;
  await db.transaction().execute(async (tx) => {
    await tx.selectFrom('namespaces').select('id').where('id', '=', group.id).forUpdate().execute();
    answers = Promise.all(calls.map((call) => call()));
    await untilLockWaits(db, calls.length);
    await meanwhile();
  });
  return answers!;
}

/** People who are Owners of the group or project of a world. */
async function ownersOf(here: World, kind: Kind, count: number) {
  const owners = [];
  for (let index = 0; index < count; index += 1) {
    const person = await here.person();
    const added = await here
      .as('admin')
      .post(`/${kind}s/${here[kind].id}/members`, { user_id: person.id, access_level: 50 });
    assert.equal(added.status, 201);
    owners.push(person);
  }
  return owners;
}

for (const kind of ['group', 'project'] as const) {
  test(`of two owners of a ${kind} who remove or demote each other at the same time, one stays`, async () => {
    const here = await world();
    const url = `/${kind}s/${here[kind].id}/members`;
    for (const end of [
      (client: Client, id: number) => client.delete(`${url}/${id}`),
      (client: Client, id: number) => client.put(`${url}/${id}`, { access_level: 10 }),
    ]) {
      const [one, two] = await ownersOf(here, kind, 2);
      const answers = await interleaved(here, [() => end(one!.client, two!.id), () => end(two!.client, one!.id)]);
      const refused = answers.filter(({ status }) => status >= 400);
      assert.equal(refused.length, 1, JSON.stringify(answers));
      const members: { id: number; access_level: number }[] = (await here.as('owner').get(url)).body;
      const kept = members.filter(({ id, access_level }) => access_level === 50 && [one!.id, two!.id].includes(id));
      assert.equal(kept.length, 1);
    }
  });
}

test('an administrator who is demoted or whose token is revoked while a change waits does not make it', async () => {
  const here = await world();
  const url = `/groups/${here.group.id}/members`;
  for (const end of [
    (id: number) => here.db.updateTable('users').set({ admin: false }).where('id', '=', id).execute(),
    (id: number) =>
      here.db.updateTable('personal_access_tokens').set({ revoked: true }).where('user_id', '=', id).execute(),
  ]) {
    const boss = await here.person({ admin: true });
    const newcomer = await here.person();
    const add = () => boss.client.post(url, { user_id: newcomer.id, access_level: 30 });
    const [answer] = await interleaved(here, [add], () => end(boss.id));
    assert.ok([401, 404].includes(answer!.status), String(answer!.status));
    assert.equal((await here.as('owner').get(`${url}/${newcomer.id}`)).status, 404);
  }
});

interface Step {
  actor: number;
  what: 'change' | 'remove' | 'invite' | 'share' | 'token' | 'approve';
  target: number;
  level: number;
}
/** Levels of the people who are members. */
type Levels = ReadonlyMap<number, number>;

/** What a change answers when nothing else happens at the same time, and the levels afterwards. */
function alone(kind: Kind, levels: Levels, { actor, what, target, level }: Step): [status: number, after: Levels] {
  const [own, held] = [levels.get(actor), levels.get(target)];
  const manages = (own ?? 0) >= (kind === 'group' ? 50 : 40);
  if (own === undefined) return [404, levels];
  if (!manages && !(what === 'remove' && actor === target)) return [what === 'token' ? 400 : 403, levels];
  if (what !== 'change' && what !== 'remove') return [201, levels];
  if (held === undefined) return [404, levels];
  if (what === 'change' && level > own) return [403, levels];
  if (actor !== target && held > own) return [403, levels];
  const after = new Map(levels);
  if (what === 'remove') after.delete(target);
  else after.set(target, level);
  return [what === 'remove' ? 204 : 200, after];
}

/** All orders of a list. */
const orders = <T>(list: readonly T[]): T[][] =>
  list.length === 0
    ? [[]]
    : list.flatMap((first, index) => orders(list.toSpliced(index, 1)).map((rest) => [first, ...rest]));

test('changes by owners at the same time end as if they came one after the other', async () => {
  const here = await world();
  const admin = here.as('admin');
  let count = 0;
  const made = async (path: string, parameters?: object): Promise<number> => {
    const { status, body } = await admin.post(path, { ...parameters });
    assert.equal(status, 201, JSON.stringify(body));
    return body.id;
  };

  async function call(kind: Kind, client: Client, { what, level }: Step, target_id: number) {
    const place = `/${kind}s/${here[kind].id}`;
    const name = `i-${here.group.id}-${++count}`;
    if (what === 'change') return () => client.put(`${place}/members/${target_id}`, { access_level: level });
    if (what === 'remove') return () => client.delete(`${place}/members/${target_id}`);
    if (what === 'invite')
      return () => client.post(`${place}/invitations`, { email: `${name}@example.org`, access_level: 10 });
    if (what === 'token')
      return () =>
        client.post(`${place}/access_tokens`, { name, access_level: 10, scopes: ['api'], expires_at: daysFromNow(5) });
    if (what === 'share') {
      const group_id = await made('/groups', { name, path: name, visibility: 'public' });
      return () => client.post(`${place}/share`, { group_id, group_access: 10 });
    }
    const { id: user_id } = await here.person();
    await here.db
      .insertInto('access_requests')
      .values({ user_id, [`${kind}_id`]: here[kind].id })
      .execute();
    return () => client.put(`${place}/access_requests/${user_id}/approve`, { access_level: 10 });
  }

  const random = randomFrom(seedOfToday());
  for (let run = 0; run < runs(8, 200); run += 1) {
    const kind = random.of(['group', 'project'] as const);
    const people = await ownersOf(here, kind, 3);
    const steps = Array.from(
      { length: 4 },
      (): Step => ({
        actor: random.below(3),
        what: random.of(['change', 'change', 'remove', 'remove', 'invite', 'share', 'token', 'approve'] as const),
        target: random.below(3),
        level: random.of([10, 40, 50]),
      }),
    );
    const calls = [];
    for (const step of steps) calls.push(await call(kind, people[step.actor]!.client, step, people[step.target]!.id));
    const statuses = (await interleaved(here, calls)).map(({ status }) => status);
    const members: { id: number; access_level: number }[] = (
      await admin.get(`/${kind}s/${here[kind].id}/members`, { per_page: 100 })
    ).body;
    const ended = people.map(({ id }) => members.find((member) => member.id === id)?.access_level);
    const explains = (order: readonly number[]) => {
      let levels: Levels = new Map(people.map((_, index) => [index, 50]));
      return (
        order.every((index) => {
          const [status, after] = alone(kind, levels, steps[index]!);
          levels = after;
          return status === statuses[index];
        }) && people.every((_, index) => levels.get(index) === ended[index])
      );
    };
    assert.ok(orders([0, 1, 2, 3]).some(explains), JSON.stringify({ run, kind, steps, statuses, ended }));
    for (const { id } of people) await admin.delete(`/${kind}s/${here[kind].id}/members/${id}`);
  }
});
