/** Memberships that follow the groups of a directory: Debian's slapd, and one that becomes silent. */
import assert from 'node:assert/strict';
import { once } from 'node:events';
import { type AddressInfo, connect, createServer, type Socket } from 'node:net';
import { before, type TestContext, test } from 'node:test';
import { Attribute, Change } from 'ldapts';
import { removeExpiredMemberships } from '../../src/areas/spaces/members/index.ts';
import { syncGroupLinks, syncLinkedDirectory } from '../../src/areas/spaces/provider_links/index.ts';
import { ownAddress } from '../support/address.ts';
import { allowSignIns, anonymousBrowser, browserOf } from '../support/browser.ts';
import { atFileEnd } from '../support/file_end.ts';
import { formsIn, sentBy } from '../support/html_tree.ts';
import { performJob, performQueued } from '../support/jobs.ts';
import { addRole } from '../support/member_roles.ts';
import { sent } from '../support/sent.ts';
import { signInFile } from '../support/sign_in_file.ts';
import { type Directory, directoryAdmin, directoryBase, startSlapd } from '../support/slapd.ts';
import { type World, world } from '../support/world.ts';

let directory: Directory | undefined;
let without: string | undefined;
let environment: Record<string, string>;

/** Leads to the directory, until it is told to be silent. */
const wire = { isSilent: false };

async function wireTo(host: string): Promise<string> {
  const sockets = new Set<Socket>();
  const [name, port] = host.split(':');
  const server = createServer((socket) => {
    const away = connect(Number(port), name);
    for (const one of [socket, away]) sockets.add(one.on('error', () => {}));
    socket.on('data', (data) => wire.isSilent || away.write(data)).on('close', () => away.destroy());
    away.on('data', (data) => wire.isSilent || socket.write(data)).on('close', () => socket.destroy());
  }).listen(0, '127.0.0.1');
  await once(server, 'listening');
  atFileEnd(async () => {
    for (const socket of sockets) socket.destroy();
    server.close();
  });
  return `127.0.0.1:${(server.address() as AddressInfo).port}`;
}

const base = `ou=people,${directoryBase}`;
const dnOf = (uid: string) => `uid=${uid},${base}`;

before(async () => {
  const started = await startSlapd();
  if ('missing' in started) {
    without = started.missing;
    return;
  }
  directory = started;
  atFileEnd(() => started.stop());
  const common = { type: 'ldap', ...directoryAdmin, base, encryption: 'plain', timeout: 2 };
  const host = await wireTo(started.host);
  const file = await signInFile({
    providers: [
      { ...common, name: 'directory', hosts: [host], group_base: `ou=groups,${directoryBase}` },
      { ...common, name: 'without_groups', hosts: [host] },
    ],
  });
  environment = { ...(await ownAddress()), ...file };
});

const directoryTest = (name: string, tell: (at: World, there: Directory, t: TestContext) => Promise<void>) =>
  test(name, async (t) => {
    if (!directory) return t.skip(without);
    const at = await world({ environment });
    await allowSignIns(at);
    await tell(at, directory, t);
  });

let count = 0;
async function somebody({ admin }: Directory, more: Record<string, string> = {}): Promise<string> {
  const uid = `barbara-${++count}`;
  const person = { objectClass: 'inetOrgPerson', uid, cn: `Barbara ${count}`, sn: 'L', mail: `${uid}@id.example.com` };
  await admin.add(dnOf(uid), { ...person, userPassword: 'a word', ...more });
  return uid;
}

const groupDn = (cn: string) => `cn=${cn},ou=groups,${directoryBase}`;
const addGroup = ({ admin }: Directory, cn: string, ...uids: string[]) =>
  admin.add(groupDn(cn), { objectClass: 'groupOfNames', cn, member: uids.map(dnOf) });
const newCn = () => `group-${++count}`;

async function signIn(at: World, uid: string, provider = 'directory') {
  const { status, html } = await anonymousBrowser(at.url).send(`/users/auth/${provider}`, 'sign_in', {
    login: uid,
    password: 'a word',
  });
  assert.equal(status, 303, html);
  const found = await sent(
    at.as('admin').get(`/users?extern_uid=${encodeURIComponent(dnOf(uid))}&provider=${provider}`),
  );
  return found[0].id as number;
}

const links = ({ group }: World) => `/groups/${group.id}/ldap_group_links`;
const link = (at: World, given: Record<string, unknown>) =>
  sent(at.as('owner').post(links(at), { provider: 'directory', group_access: 30, ...given }));
const unlink = (at: World, given: Record<string, unknown>) =>
  sent(at.as('owner').delete(links(at), { provider: 'directory', ...given }));

/** The level and the mark of a member of the group; undefined for somebody else. */
async function member(at: World, id: number) {
  const { status, body } = await at.as('owner').get(`/groups/${at.group.id}/members/${id}`);
  return status === 404 ? undefined : [body.access_level, body.membership_source, body.created_by?.id];
}
const due = ({ db }: World) => db.updateTable('user_identities').set({ checked_at: null }).execute();
const eventsOf = async ({ db }: World, id: number) =>
  (
    await db
      .selectFrom('audit_events')
      .select('event_name')
      .where('target_id', '=', id)
      .where('event_name', 'like', 'member_%')
      .orderBy('id')
      .execute()
  ).map(({ event_name }) => event_name);

directoryTest(
  'people of a linked group are members from their sign-in on, with the highest link',
  async (at, there) => {
    const uid = await somebody(there);
    const [one, other] = [newCn(), newCn()];
    await addGroup(there, one, uid);
    await addGroup(there, other, uid);
    await link(at, { cn: one.toUpperCase(), group_access: 20 });
    const id = await signIn(at, uid);
    assert.deepEqual(await member(at, id), [20, 'ldap', undefined]);
    assert.deepEqual(await eventsOf(at, id), ['member_created']);
    await link(at, { cn: other, group_access: 30 });
    await signIn(at, uid);
    assert.deepEqual(await member(at, id), [30, 'ldap', undefined]);
    await signIn(at, uid);
    assert.deepEqual(await eventsOf(at, id), ['member_created', 'member_updated'], 'what changes nothing leaves none');
    await unlink(at, { cn: other });
    assert.deepEqual(await member(at, id), [20, 'ldap', undefined], 'the next one counts at once');
    await unlink(at, { cn: one.toUpperCase() });
    assert.equal(await member(at, id), undefined);
    assert.deepEqual(await eventsOf(at, id), [
      'member_created',
      'member_updated',
      'member_updated',
      'member_destroyed',
    ]);
  },
);

directoryTest('filters count, and groups and filters only of the provider that answers', async (at, there) => {
  const uid = await somebody(there, { title: 'cook' });
  await link(at, { filter: '(&(title=cook)(objectClass=inetOrgPerson))', group_access: 40 });
  await link(at, { filter: 'title=baker', group_access: 50 });
  const id = await signIn(at, uid);
  assert.deepEqual(await member(at, id), [40, 'ldap', undefined]);
  await there.admin.modify(dnOf(uid), [
    new Change({ operation: 'delete', modification: new Attribute({ type: 'title', values: [] }) }),
  ]);
  await due(at);
  wire.isSilent = true;
  try {
    await performJob(at.services, syncGroupLinks, {});
    assert.deepEqual(await member(at, id), [40, 'ldap', undefined], 'silence takes nothing away');
  } finally {
    wire.isSilent = false;
  }
  await performJob(at.services, syncGroupLinks, {});
  assert.equal(await member(at, id), undefined);
});

directoryTest('each hour, and when an Owner asks for it, memberships follow the directory', async (at, there) => {
  const [uid, other] = [await somebody(there), await somebody(there)];
  const cn = newCn();
  await addGroup(there, cn, uid);
  const [id, otherId] = [await signIn(at, uid), await signIn(at, other)];
  await link(at, { cn });
  const sync = `/groups/${at.group.id}/ldap_sync`;
  assert.equal((await at.as('maintainer').post(sync)).status, 403);
  for (let count = 0; count < 3; count++) assert.equal((await at.as('owner').post(sync)).status, 202);
  const ran = await performQueued(at.services, [syncLinkedDirectory]);
  assert.equal(ran.length, 1, 'three questions are one');
  assert.deepEqual([await member(at, id), await member(at, otherId)], [[30, 'ldap', undefined], undefined]);
  await there.admin.modify(groupDn(cn), [
    new Change({ operation: 'replace', modification: new Attribute({ type: 'member', values: [dnOf(other)] }) }),
  ]);
  await due(at);
  await performJob(at.services, syncGroupLinks, {});
  assert.deepEqual([await member(at, id), await member(at, otherId)], [undefined, [30, 'ldap', undefined]]);
  // An identity that is unlinked states nothing any more.
  await sent(at.as('admin').delete(`/users/${otherId}/identities/directory`));
  await performJob(at.services, syncGroupLinks, {});
  assert.equal(await member(at, otherId), undefined);
});

directoryTest('a directory that is asked for no groups takes none away', async (at, there) => {
  const uid = await somebody(there);
  await link(at, { provider: 'without_groups', cn: newCn() });
  const id = await signIn(at, uid, 'without_groups');
  assert.equal(await member(at, id), undefined);
});

directoryTest('what was made by hand stays, and the higher of both applies', async (at, there) => {
  const uid = await somebody(there);
  const cn = newCn();
  const id = await signIn(at, uid);
  const members = `/groups/${at.group.id}/members`;
  const owner = at.people.owner.id;
  await sent(at.as('owner').post(members, { user_id: id, access_level: 20 }));
  await addGroup(there, cn, uid);
  await link(at, { cn, group_access: 30 });
  await signIn(at, uid);
  assert.deepEqual(await member(at, id), [30, 'ldap', undefined]);
  const change = (given: Record<string, unknown>) => sent(at.as('owner').put(`${members}/${id}`, given));
  assert.equal((await change({ access_level: 10 })).access_level, 30, 'the higher one');
  await change({ access_level: 30 });
  assert.deepEqual(await member(at, id), [30, 'ldap', undefined], 'saved as it is');
  await change({ access_level: 40 });
  assert.deepEqual(await member(at, id), [40, undefined, owner]);
  await signIn(at, uid);
  assert.deepEqual(await member(at, id), [40, undefined, owner]);
  await change({ access_level: 20 });
  assert.deepEqual(await member(at, id), [30, 'ldap', undefined]);
  await unlink(at, { cn });
  assert.deepEqual(await member(at, id), [20, undefined, owner], 'what was made by hand is back');
  assert.deepEqual(await eventsOf(at, id), ['member_created', ...Array(4).fill('member_updated')]);
});

directoryTest('a membership by hand that ends leaves what a link gives', async (at, there) => {
  const uid = await somebody(there);
  const cn = newCn();
  await addGroup(there, cn, uid);
  await link(at, { cn, group_access: 20 });
  const id = await signIn(at, uid);
  await sent(
    at.as('owner').put(`/groups/${at.group.id}/members/${id}`, { access_level: 40, expires_at: '2099-01-01' }),
  );
  const { db } = at;
  await db.updateTable('members').set({ expires_at: '2020-01-01' }).where('user_id', '=', id).execute();
  await performJob(at.services, removeExpiredMemberships, {});
  assert.deepEqual(await member(at, id), [20, 'ldap', undefined]);
  const removed = await at.as('owner').delete(`/groups/${at.group.id}/members/${id}`);
  assert.equal(removed.status, 204);
  assert.equal(await member(at, id), undefined);
  await signIn(at, uid);
  assert.deepEqual(await member(at, id), [20, 'ldap', undefined], 'the directory has said so again');
});

directoryTest('the last owner is neither removed nor lowered', async (at, there) => {
  const uid = await somebody(there);
  const cn = newCn();
  await addGroup(there, cn, uid);
  await link(at, { cn, group_access: 50 });
  const id = await signIn(at, uid);
  const members = `/groups/${at.group.id}/members`;
  assert.deepEqual(await member(at, id), [50, 'ldap', undefined]);
  await sent(at.as('admin').delete(`${members}/${at.people.owner.id}`));
  const admin = at.as('admin');
  await sent(admin.delete(links(at), { provider: 'directory', cn }));
  const kept = await sent(admin.get(`${members}/${id}`));
  assert.deepEqual([kept.access_level, kept.membership_source], [50, 'ldap']);
  await sent(admin.post(members, { user_id: at.people.owner.id, access_level: 50 }));
  await performJob(at.services, syncGroupLinks, {});
  assert.equal(await member(at, id), undefined, 'there is another one');
});

directoryTest('a link gives a custom role, and none where no seat is left', async (at, there) => {
  const uid = await somebody(there);
  const cn = newCn();
  await addGroup(there, cn, uid);
  const role = await addRole(at, ['read_vulnerability'], { base_access_level: 20, group_id: at.group.id });
  await link(at, { cn, group_access: 20, member_role_id: role });
  const id = await signIn(at, uid);
  const shown = await sent(at.as('owner').get(`/groups/${at.group.id}/members/${id}`));
  assert.deepEqual([shown.member_role.id, shown.membership_source], [role, 'ldap']);
  const project = await sent(at.as('owner').get(`/projects/${at.project.id}/members/all/${id}`));
  assert.deepEqual([project.access_level, project.membership_source], [20, 'ldap']);
  await at.db.updateTable('application_settings').set({ enable_member_promotion_management: true }).execute();
  try {
    const second = await somebody(there);
    const waiting = newCn();
    await addGroup(there, waiting, second);
    await link(at, { cn: waiting, group_access: 30 });
    const waits = await signIn(at, second);
    await signIn(at, second);
    assert.equal(await member(at, waits), undefined);
    const asked = await sent(at.as('admin').get('/member_approvals?per_page=100'));
    const own = asked.filter(({ user }: { user: { id: number } }) => user.id === waits);
    assert.deepEqual(own.length, 1, 'asked for once');
  } finally {
    await at.db.updateTable('application_settings').set({ enable_member_promotion_management: false }).execute();
  }
});

directoryTest(
  'an Owner links a group on a page, and the page of members says who is there by it',
  async (at, there) => {
    const uid = await somebody(there);
    const cn = newCn();
    await addGroup(there, cn, uid);
    const browser = await browserOf(at, at.people.owner);
    const path = `/groups/${at.group.full_path}/-/settings/group_links`;
    const send = async (does: string, fields: Record<string, string>) => {
      const form = formsIn((await browser.get(path)).html).find((each) => each.does[0] === does)!;
      return browser.send(form.action, does, { ...sentBy(form), ...fields });
    };
    const given = { provider: 'directory', cn, group_access: '30' };
    const wrong = await send('create_ldap_link', { ...given, cn: '', filter: '*)(uid=*' });
    assert.equal(wrong.status, 400, wrong.html);
    const added = await send('create_ldap_link', given);
    assert.equal(added.status, 303, added.html);
    assert.match((await browser.get(path)).html, new RegExp(cn));
    await signIn(at, uid);
    const members = await browser.get(`/groups/${at.group.full_path}/-/group_members`);
    assert.match(members.html, /Member by a directory/);
    assert.equal((await send('remove_ldap_link', {})).status, 303);
    const after = await browser.get(`/groups/${at.group.full_path}/-/group_members`);
    assert.doesNotMatch(after.html, new RegExp(`@${uid}`));
  },
);
