import assert from 'node:assert/strict';
import { after, test } from 'node:test';
import { type Client, clientOf } from '../../../../test/support/client.ts';
import { testDatabase } from '../../../../test/support/database.ts';
import { populate, startServer, type World } from '../../../../test/support/populate.ts';

const stops: (() => Promise<void>)[] = [];
after(async () => {
  for (const stop of stops) await stop();
});

/** A world on a server of one offering. */
async function worldOf(offering: string): Promise<World> {
  const { db } = await testDatabase();
  const server = await startServer(db, { environment: { COPPICE_OFFERING: offering } });
  stops.push(server.stop);
  return populate(server);
}

/** The status of every operation below a path. */
const answersTo = async (client: Client, url: string) => [
  await client.get(url),
  await client.post(url, { name: 'reader', base_access_level: 10, read_code: true }),
  await client.patch(`${url}/1`, { name: 'x' }),
  await client.put(`${url}/1`, { name: 'x' }),
  await client.delete(`${url}/1`),
];

const instance = '400 Bad request';
const group =
  '400 Bad request - Group-level custom roles are deprecated on self-managed instances. See http://coppice.test/docs';

for (const [offering, has, refuses, text] of [
  ['hosted', 'group', 'instance', instance],
  ['self-managed', 'instance', 'group', group],
  ['dedicated', 'instance', 'group', group],
] as const) {
  test(`a ${offering} server has roles of the ${has} and refuses those of the ${refuses} to every signed-in caller`, async () => {
    const here = await worldOf(offering);
    const urls = { instance: '/member_roles', group: `/groups/${here.group.id}/member_roles` };
    const owner = here.as(has === 'instance' ? 'admin' : 'owner');
    const made = await owner.post(urls[has], { name: `reader of ${offering}`, base_access_level: 10, read_code: true });
    assert.equal(made.status, 201);
    const listed = (await owner.get(urls[has])).body.find(({ id }: { id: number }) => id === made.body.id);
    assert.deepEqual(listed, made.body);
    for (const persona of ['admin', 'owner', 'guest', 'outsider'] as const)
      for (const { status, body } of await answersTo(here.as(persona), urls[refuses]))
        assert.deepEqual([status, body], [400, { message: text }], persona);
    for (const { status } of await answersTo(clientOf(`${here.url}/api/v4`), urls[refuses])) assert.equal(status, 401);
  });
}
